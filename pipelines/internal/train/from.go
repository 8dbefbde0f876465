package train

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tagnet/formats/storage"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph/kg"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/pipelines/internal/cli/command"
)

// origin is where a training begins: the weights of a file, over the graph, or initial weights if both are nil.
type origin struct {
	from    string // the flag
	file    *command.Weights
	weights *parameters.Set[float32]
	unused  []string // relations of the file that the graph lacks
	// recorded identifies the file that the checkpoints name.
	recorded *checkpoint.Origin
}

// open reads the file of --from, if there is one.
func (o *origin) open(ctx context.Context) error {
	if o.from == "" {
		return nil
	}
	file, err := command.OpenWeights(ctx, "from", o.from)
	if err != nil {
		return err
	}
	recorded := file.Origin
	o.file, o.recorded = file, &recorded
	return nil
}

// transfers reports whether --from names weights of which none belongs to a relation.
func (o *origin) transfers() bool { return o.file != nil && o.file.Record.Configuration.Transfers() }

// fits returns an error unless the weights of --from fit a configuration. Its policy may be window, and it may have a reach: these change no
// weights.
func (o *origin) fits(c configuration.Configuration) error {
	if o.file == nil {
		return nil
	}
	want := o.file.Configuration(c)
	want.Reach, want.ReachNegatives = c.Reach, c.ReachNegatives
	why := ""
	switch {
	case c.Policy != configuration.PolicyWindow:
	case o.transfers():
		why = "; a window loses much of their quality"
	default:
		want.Policy = c.Policy
	}
	different, err := differences(want, c)
	if err != nil || len(different) == 0 {
		return err
	}
	return command.Usage("--from %s: the flags do not fit its weights (%s%s): leave them out", o.from, strings.Join(different, "; "), why)
}

// over lays the weights of --from over a graph, before anything is written.
func (o *origin) over(loaded *kg.KG) (err error) {
	if o.file != nil {
		o.weights, o.unused, err = o.file.Over(loaded.Relations)
	}
	return err
}

// compare says whether the best epoch is better than the weights of --from that the training began with, if these were validated.
func (t *trainer) compare(best checkpoint.Record) {
	if best.Start == nil || best.Valid == nil {
		return
	}
	text := fmt.Sprintf("before the training: validation MRR %.4f, Hits@1 %.4f, Hits@10 %.4f", best.Start.Pessimistic.MRR, best.Start.Pessimistic.Hits1, best.Start.Pessimistic.Hits10)
	if !best.Valid.Better(best.Start) {
		text += "; no epoch is better than the weights of --from: use these"
		if best.Origin.Model != "" {
			command := t.e.Workspace.Command("score", "--model", best.Origin.Model)
			if r := best.Configuration.Reach; r > 0 { // the model has none of its own
				command = command.With("--reach", strconv.Itoa(r))
			}
			text += ", with " + command.String()
		}
	}
	t.e.Say("%s", text)
}

// writeOrigin writes the weights of --from as the checkpoint before the first step, from which the training resumes.
func (t *trainer) writeOrigin(ctx context.Context) error {
	o := t.origin
	if o.weights == nil {
		return nil
	}
	record := checkpoint.Record{
		FormatVersion: checkpoint.FormatVersion, Configuration: t.configuration, Vocabulary: checkpoint.VocabularyOf(t.loaded), Origin: o.recorded,
		Seed: t.e.Seed, Validation: t.validation, Rounds: t.rounds, Epoch: 1, Partial: &checkpoint.Partial{},
	}
	k, err := kernel.Named("portable") // it has nothing to compute
	if err != nil {
		return err
	}
	moments, _ := steps.NewSolver(t.configuration, 2*len(t.loaded.Relations), k).State()
	guarded := t.stage.Lock().Guard(ctx)
	if err := storage.Remove(guarded, t.e.Workspace.TrainingLog()); err != nil { // of a training that was removed
		return err
	}
	if err := t.folder.Save(guarded, record, o.weights.Tensors, moments); err != nil {
		return fmt.Errorf("saving the weights of %s: %w", o.from, err)
	}
	for _, line := range o.file.Lines(o.unused) {
		t.e.Say("%s", line)
	}
	return nil
}
