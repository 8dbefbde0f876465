package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/checkpoint"
	"tagnet/model/prior"
	"tagnet/pipelines/internal/command"
	"tagnet/stages/calibrate"
)

// checkPrior returns an error unless --prior, if given, can be fitted with so many validation queries and relations.
func (f *flags) checkPrior(queries, relations int) error {
	switch {
	case !f.prior:
		return nil
	case queries == 0:
		return command.Usage("--prior: there are no validation queries to choose its weight by: leave it out, or preprocess again with facts in the dataset's valid.txt, or one file with --split 90,5,5")
	case relations > prior.MostRelations:
		return command.Usage("--prior counts pairs of at most %d relations, and the graph has %d: leave it out", prior.MostRelations/2, relations/2)
	}
	return nil
}

// BuildPrior returns the Beam pipeline that fits the prior of a checkpoint.
func BuildPrior(p calibrate.Params) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	calibrate.Prior(s, p)
	return pipeline
}

// priorOf returns the prior of a checkpoint, or nil if it has none, or with --prior none that can be read.
func (t *trainer) priorOf(ctx context.Context, r checkpoint.Record) (*prior.Prior, error) {
	if t.loaded == nil { // of several graphs
		return nil, nil
	}
	p, err := t.folder.Prior(ctx, r, t.loaded.Relations)
	if damaged := new(checkpoint.DamagedError); errors.As(err, &damaged) {
		if t.prior {
			return nil, nil
		}
		err = fmt.Errorf("%w: %s fits it again", err, t.e.Workspace.Command("train", "--resume", "--prior"))
	}
	return p, err
}

// fitPrior fits the prior of the best checkpoint, with --prior, unless that is done. Its calibration is one of other scores then.
func (t *trainer) fitPrior(ctx context.Context) error {
	missing, _, err := t.unfitted(ctx)
	if err != nil || !missing {
		return err
	}
	p := t.calibrationParams(t.stage.Lock(), "")
	queries := min(t.valid, p.Queries.Limit)
	return t.scoreValid(ctx, "fitting the prior", "all epochs are trained; the prior is missing: %s fits it", queries, BuildPrior(p))
}

// showPrior prints what the prior of the best checkpoint changes. It returns its URL, or "" without one.
func (t *trainer) showPrior(best checkpoint.Record, p *prior.Prior) string {
	if p == nil {
		return ""
	}
	t.e.Say("prior: validation MRR %.4f without it, %.4f with %g x min(log-odds of the relations of the answer, %g)", p.Without, p.With, p.Beta, p.Cap)
	return t.folder.PriorURL(best.Name())
}
