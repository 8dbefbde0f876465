package train

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/engine/kernel"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
)

// configure decides the hyperparameters: the preset's, changed by the flags that were given. The weights of
// --from decide the architecture. With
// --resume, the newest checkpoint stands for a preset that is not given, and it decides the epochs,
// the seed, the validation and the workers unless their flags are given.
func (f *flags) configure(ctx context.Context, e *command.Environment) error {
	c, err := openPreset(ctx, f.preset)
	if err != nil {
		return err
	}
	if err := f.origin.open(ctx); err != nil {
		return err
	}
	if f.origin.transfers() && f.preset != "" {
		return command.Usage("--preset sets an architecture, and so do the weights of --from %s: leave it out, and give hyperparameters of training by their flags", f.origin.from)
	}
	// Weights bring their architecture.
	if f.origin.file != nil {
		if f.preset == "" {
			c = f.origin.file.Further
		}
		c = f.origin.file.Configuration(c)
	}
	// The newest checkpoint overrules both.
	if f.resume || f.existing {
		records, _, err := checkpoint.Folder(e.Workspace.Checkpoints()).Records(ctx)
		if err != nil {
			return err
		}
		if n := len(records); n > 0 {
			c = f.continued(e, c, records[n-1])
			f.continueKernel(ctx, e)
		}
	}
	// Flags that are given overrule everything.
	if f.rounds, err = configuration.NewRounds(f.workers, f.localSteps); err != nil {
		return err // the flags were checked
	}
	if f.workers > 1 && f.validation.Patience > 0 {
		return command.Usage("--patience is %d with --workers %d, whose epochs are dealt ahead: leave one of the two out", f.validation.Patience, f.workers)
	}
	if f.configuration, err = configure(c, f.fields); err != nil {
		return err
	}
	return f.origin.fits(f.configuration)
}

// openPreset returns the configuration of --preset, or the default one without it.
func openPreset(ctx context.Context, preset string) (configuration.Configuration, error) {
	if preset == "" {
		return configuration.Default(), nil
	}
	c, err := configuration.OpenPreset(ctx, preset)
	switch {
	case err == nil:
		return c, nil
	case !configuration.IsPresetFile(preset):
		return c, command.Usage("--preset: %v, or a file of one: NAME.json", err)
	case errors.Is(err, fs.ErrNotExist):
		return c, command.MissingFile("preset", preset, err)
	}
	return c, err
}

// continueKernel selects the variant of the kernels that the training log names last, so that a training
// resumed on another machine ends with the same bytes, unless a flag or the environment names one or this
// machine lacks it.
func (f *flags) continueKernel(ctx context.Context, e *command.Environment) {
	epochs, err := metrics.ReadHistory(ctx, e.Workspace.TrainingLog())
	if err != nil || len(epochs) == 0 || f.Kernel != "" {
		return
	}
	last := epochs[len(epochs)-1].Kernel
	if fastest, err := kernel.Named("auto"); err != nil || fastest.Name() == last {
		return
	}
	if os.Getenv("TAGNET_KERNEL") != "" || command.CheckKernel(last) != nil { // of a device, for example
		return
	}
	f.Kernel = last
	e.Say("--kernel %s, as the epochs before; --kernel auto takes the fastest of this machine", last)
}

// continued returns the configuration with which a training resumes from a record, before the flags
// of hyperparameters. It sets the seed, the validation and the workers of the run.
func (f *flags) continued(e *command.Environment, preset configuration.Configuration, r checkpoint.Record) configuration.Configuration {
	given := map[string]bool{}
	e.Flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if f.origin.file == nil {
		f.origin.recorded = r.Origin
	}
	if !given["seed"] {
		e.Seed = r.Seed
	}
	if !given["validate_every"] {
		f.validation.Every = r.Validation.Every
	}
	if !given["valid_limit"] {
		f.validation.Limit = r.Validation.Limit
	}
	if !given["patience"] {
		f.validation.Patience = r.Validation.Patience
	}
	if !given["workers"] {
		f.workers = max(1, r.Rounds.Workers)
	}
	if !given["local_steps"] && r.Rounds.LocalSteps > 0 {
		f.localSteps = r.Rounds.LocalSteps
	}
	if f.preset == "" {
		return r.Configuration
	}
	return preset.Resumed(r.Configuration)
}
