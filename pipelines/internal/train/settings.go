package train

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// recorded decides the content of checkpoints, besides the seed and the graph.
type recorded struct {
	configuration.Configuration
	configuration.Rounds
	Validation metrics.Validation `json:"validation"`
	Origin     *checkpoint.Origin `json:"from,omitempty"`
}

// settings are all that a training takes beside the graph: those that flags, a preset, weights and
// checkpoints decide together.
type settings struct {
	recorded
	seed    int64
	weights *command.Weights // of --from, or nil
	on      command.Resources
}

// settingsOf returns the settings of a choice of hyperparameters: the preset's, changed by the flags that were
// given. The weights of --from decide the architecture. Where the training continues, the newest checkpoint
// stands for a preset that is not given, and it decides the epochs, the seed, the validation and the workers
// unless their flags are given.
func (d *decision) settingsOf(ctx context.Context, h hyperparameters) (settings, error) {
	s := settings{recorded: recorded{Validation: d.validation}, seed: d.e.Seed, on: d.Resources}
	c, err := openPreset(ctx, h.preset)
	if err != nil {
		return s, err
	}
	if err := s.openWeights(ctx, h.from); err != nil {
		return s, err
	}
	if s.transfers() && h.preset != "" {
		return s, command.Usage("--preset sets an architecture, and so do the weights of --from %s: leave it out, "+
			"and give hyperparameters of training by their flags", h.from)
	}
	// Weights bring their architecture.
	if s.weights != nil {
		if h.preset == "" {
			c = s.weights.Further
		}
		c = s.weights.Configuration(c)
	}
	// The newest checkpoint overrules both.
	workers, localSteps := d.workers, d.localSteps
	if n := len(d.records); n > 0 && d.continues() {
		newest := d.records[n-1]
		if h.preset == "" {
			c = newest.Configuration
		} else {
			c = c.Resumed(newest.Configuration)
		}
		d.continueRecord(ctx, &s, newest)
		if !d.e.HasFlag("workers") {
			workers = max(1, newest.Rounds.Workers)
		}
		if !d.e.HasFlag("local_steps") && newest.Rounds.LocalSteps > 0 {
			localSteps = newest.Rounds.LocalSteps
		}
	}
	// Flags that are given overrule everything.
	if s.Rounds, err = configuration.NewRounds(workers, localSteps); err != nil {
		return s, err // the flags were checked
	}
	if patience := s.Validation.Patience; workers > 1 && patience > 0 {
		return s, command.Usage("--patience is %d with --workers %d, whose epochs are dealt ahead: leave one of the two out", patience, workers)
	}
	if (workers > 1 || d.bundles) && s.on.Device.Mode == device.Auto {
		// A device needs the edges of the graph. What a shard computes on, and the weights with it, would depend on the
		// machine that takes it.
		s.on.Device = device.Choice{}
	}
	if s.Configuration, err = h.configure(c); err != nil {
		return s, err
	}
	return s, s.fitWeights(h.from)
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

// continueRecord takes from a checkpoint what flags do not give, besides the hyperparameters and the rounds.
func (d *decision) continueRecord(ctx context.Context, s *settings, r checkpoint.Record) {
	if s.weights == nil {
		s.Origin = r.Origin
	}
	if !d.e.HasFlag("seed") {
		s.seed = r.Seed
	}
	if !d.e.HasFlag("validate_every") {
		s.Validation.Every = r.Validation.Every
	}
	if !d.e.HasFlag("valid_limit") {
		s.Validation.Limit = r.Validation.Limit
	}
	if !d.e.HasFlag("patience") {
		s.Validation.Patience = r.Validation.Patience
	}
	s.on.Kernel = d.continueKernel(ctx)
}

// continueKernel returns the variant of the kernels that the training log names last, so that a training
// resumed on another machine ends with the same bytes, unless a flag or the environment names one or this
// machine lacks it: then that of the flag.
func (d *decision) continueKernel(ctx context.Context) string {
	epochs, err := metrics.ReadHistory(ctx, d.e.Workspace.TrainingLog())
	if err != nil || len(epochs) == 0 || d.Kernel != "" {
		return d.Kernel
	}
	last := epochs[len(epochs)-1].Kernel
	if fastest, err := kernel.Named("auto"); err != nil || fastest.Name() == last {
		return ""
	}
	if os.Getenv("TAGNET_KERNEL") != "" || command.CheckKernel(last) != nil { // of a device, for example
		return ""
	}
	d.e.Say("--kernel %s, as the epochs before; --kernel auto takes the fastest of this machine", last)
	return last
}

// openWeights reads the file of --from, if there is one.
func (s *settings) openWeights(ctx context.Context, from string) error {
	if from == "" {
		return nil
	}
	file, err := command.OpenWeights(ctx, "from", from)
	if err != nil {
		return err
	}
	origin := file.Origin
	s.weights, s.Origin = file, &origin
	return nil
}

// transfers reports whether --from names weights of which none belongs to a relation.
func (s *settings) transfers() bool {
	return s.weights != nil && s.weights.Record.Configuration.Transfers()
}

// fitWeights returns an error unless the weights of --from fit the configuration. Its policy may be window, and it may
// have a reach: these change no weights.
func (s *settings) fitWeights(from string) error {
	if s.weights == nil {
		return nil
	}
	want := s.weights.Configuration(s.Configuration)
	want.Reach, want.ReachNegatives = s.Reach, s.ReachNegatives
	why := ""
	switch {
	case s.Policy != configuration.PolicyWindow:
	case s.transfers():
		why = "; a window loses much of their quality"
	default:
		want.Policy = s.Policy
	}
	different, err := workspace.Differences(want, s.Configuration)
	if err != nil || len(different) == 0 {
		return err
	}
	return command.Usage("--from %s: the flags do not fit its weights (%s%s): leave them out", from, strings.Join(different, "; "), why)
}
