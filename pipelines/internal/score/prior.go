package score

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"

	"tagnet/formats/metrics"
	"tagnet/formats/parquet"
	"tagnet/model"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
)

// openPrior reads the prior of the checkpoint, if it has one, unless --prior is false.
func (a *opened) openPrior(ctx context.Context) (err error) {
	if !a.addPrior {
		return nil
	}
	a.prior, err = a.model.Folder.Prior(ctx, a.model.Record, a.loaded.Relations)
	if damaged := new(checkpoint.DamagedError); errors.As(err, &damaged) {
		return fmt.Errorf("%w: %s fits it again, --prior=false scores without it", err, a.e.Workspace.Command("train", "--resume", "--prior"))
	}
	return err
}

// checkPrior returns an error if --prior is given for a model that has none.
func (a *opened) checkPrior() (err error) {
	a.e.Flags.Visit(func(f *flag.Flag) {
		if f.Name == "prior" && a.addPrior && a.prior == nil {
			err = command.Usage("--prior: %s has none: leave it out; train --prior fits that of the best checkpoint of a training",
				cmp.Or(a.weightsFlags.model, a.weights, a.model.Record.Name()))
		}
	})
	return err
}

// priorShares returns what the prior adds to the scores of predictions, with --explain.
func (a *scoring) priorShares(ctx context.Context, predictions []parquet.Prediction) (map[pathsOf]float32, error) {
	if !a.explained || a.prior == nil {
		return nil, nil
	}
	view := a.loaded.Of(a.split)
	added, lookup := a.prior.Of(view.Graph), kg.NewLookup(view.Entities, a.loaded.Relations)
	shares := map[pathsOf]float32{}
	for _, p := range predictions {
		query, err := lookup.Query(ctx, p.Source, p.Relation, p.Direction == metrics.Head)
		if err != nil {
			return nil, err
		}
		entity, err := lookup.Entity(ctx, p.Entity)
		if err != nil {
			return nil, err
		}
		shares[pathsOf{p.Query, p.Entity}] = added.Share(query.Relation, entity)
	}
	return shares, nil
}

// showShare prints below the paths to an answer what its relations add to its score.
func (a *scoring) showShare(shares map[pathsOf]float32, p parquet.Prediction) {
	if share, ok := shares[pathsOf{p.Query, p.Entity}]; ok {
		a.e.Say("        %6s  of the score: the relations of the answer, whatever the source", model.FormatWeight(float64(share)))
	}
}
