package train

import (
	"context"
	"fmt"
	"strings"

	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/optimizer"
	"tagnet/model/ultra"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pretrained"
)

// origin is where a training begins: the weights of a file and their checkpoint, or initial weights if both are nil.
type origin struct {
	from, relations string // flags
	file            pretrainedFile
	weights         *pretrained.Checkpoint
	// recorded identifies the file that the checkpoints name.
	recorded *checkpoint.Origin
}

// pretrainedFile is a file of weights: a *pretrained.File or ULTRA's.
type pretrainedFile interface {
	// Configuration returns a configuration with the fields that the weights decide.
	Configuration(c configuration.Configuration) (configuration.Configuration, error)
	// Over returns the checkpoint of the weights over a graph.
	Over(loaded *kg.KG, c configuration.Configuration) (*pretrained.Checkpoint, error)
	// Describe returns a line about the weights.
	Describe(c configuration.Configuration) string
}

// ultraFile is a file of ULTRA's weights.
type ultraFile struct{ *pretrained.ULTRA }

func (f ultraFile) Configuration(c configuration.Configuration) (configuration.Configuration, error) {
	return ultra.TrainedAs(c), nil
}

func (f ultraFile) Over(loaded *kg.KG, c configuration.Configuration) (*pretrained.Checkpoint, error) {
	made, err := f.ULTRA.Over(loaded)
	if err != nil {
		return nil, err
	}
	made.Record.Configuration = c
	return made, nil
}

func (f ultraFile) Describe(configuration.Configuration) string { return f.ULTRA.Describe() }

// check validates the flags beside each other.
func (o *origin) check(e *command.Environment) error {
	if err := e.NotEmpty("a file", "from", "relations"); err != nil {
		return err
	}
	if o.from == "" && o.relations != "" {
		return command.Usage("--relations describes --from, which is missing")
	}
	return nil
}

// open reads the file of --from, if there is one. Options are those of the fields that were given.
func (o *origin) open(ctx context.Context, fields []*field) error {
	if o.from == "" {
		return nil
	}
	if is, err := pretrained.HoldsULTRA(ctx, "from", o.from); is || err != nil {
		if err != nil {
			return err
		}
		return o.openULTRA(ctx)
	}
	source := pretrained.Source{Flag: "from", File: o.from, Relations: o.relations}
	for _, f := range fields {
		switch {
		case f.given == "":
		case f.Name == "message":
			source.Options.Message = f.text
		case f.Name == "aggregate":
			source.Options.Aggregate = f.text
		}
	}
	file, err := source.Open(ctx)
	if err != nil {
		return err
	}
	o.file, o.recorded = file, &file.Origin
	return nil
}

func (o *origin) openULTRA(ctx context.Context) error {
	if o.relations != "" {
		return command.Usage("--relations: the weights of --from %s are ULTRA's, none of which belongs to a relation: leave it out", o.from)
	}
	file, err := pretrained.OpenULTRA(ctx, "from", o.from)
	if err != nil {
		return err
	}
	o.file, o.recorded = ultraFile{file}, &file.Origin
	return nil
}

// ultra reports whether --from names ULTRA's weights.
func (o *origin) ultra() bool {
	_, is := o.file.(ultraFile)
	return is
}

// fits returns an error unless a configuration is one of the weights of --from. The policy may be window: it has
// the same weights.
func (o *origin) fits(c configuration.Configuration) error {
	if o.file == nil {
		return nil
	}
	want, err := o.file.Configuration(c)
	if err != nil {
		return err
	}
	why := ""
	switch {
	case c.Policy != configuration.PolicyWindow:
	case o.ultra():
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

// over makes the checkpoint of the weights of --from over a graph, before anything is written.
func (o *origin) over(loaded *kg.KG, c configuration.Configuration) error {
	if o.file == nil {
		return nil
	}
	var err error
	o.weights, err = o.file.Over(loaded, c)
	return err
}

// writeOrigin writes the weights of --from as the checkpoint before the first step, from which the training resumes.
func (t *trainer) writeOrigin(ctx context.Context) error {
	o := t.origin
	if o.weights == nil {
		return nil
	}
	r := &o.weights.Record
	r.Seed, r.Validation, r.Rounds, r.Epoch, r.Partial = t.e.Seed, t.validation, t.rounds, 1, &checkpoint.Partial{}
	k, err := kernel.Named("portable") // it has nothing to compute
	if err != nil {
		return err
	}
	moments, _ := optimizer.NewSolver(t.configuration, 2*len(t.loaded.Relations), k).State()
	guarded := t.stage.Lock().Guard(ctx)
	if err := storage.Remove(guarded, t.e.Workspace.TrainingLog()); err != nil { // of a training that was removed
		return err
	}
	if err := o.weights.Save(guarded, t.folder, checkpoint.Tensors(moments)); err != nil {
		return fmt.Errorf("saving the weights of %s: %w", o.from, err)
	}
	t.e.Say("%s", o.file.Describe(t.configuration))
	if o.weights.Notice != "" {
		t.e.Say("%s", o.weights.Notice)
	}
	return nil
}
