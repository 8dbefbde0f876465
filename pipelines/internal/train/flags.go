package train

import (
	"cmp"
	"flag"
	"fmt"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
)

// flags are what the user gave. Nothing changes them.
type flags struct {
	hyperparameters
	command.Resources
	workers    int
	localSteps int
	resume     bool
	every      float64 // minutes between checkpoints
	minutes    float64
	validation metrics.Validation
	bundles    bool
}

// Pipeline returns the train command.
func Pipeline() command.Pipeline {
	f := &flags{hyperparameters: hyperparameters{fields: fields()}}
	return command.Pipeline{
		Name:    "train",
		Summary: "Trains a model on the training facts: a preset sets all hyperparameters, and flags change single ones.",
		First:   "workspace run minutes from preset layers dim reach epochs learning_rate negatives resume force device memory",
		Flags:   f.register,
		Run:     f.run,
	}
}

func (f *flags) register(set *flag.FlagSet) {
	set.StringVar(&f.preset, "preset", "",
		"`name|FILE.json`: the configuration to start from: a file, or a preset "+configuration.PresetsHelp())
	set.StringVar(&f.from, "from", "", "`zero|file`: weights to train further: the model zero, or another that tagnet comes with, "+
		"a checkpoint (best, or .safetensors), or a file (.pth) of ULTRA's; decides the architecture")
	for _, field := range f.fields {
		set.Var(field, field.Name, field.Usage())
	}
	set.BoolVar(&f.bundles, "bundles", false,
		"read the parts of the graph that queries propagate through, which bundle wrote for --reach, and hold no graph; changes no result")
	set.IntVar(&f.workers, "workers", 1,
		fmt.Sprintf("workers that train the model in rounds and average it after each, 1 to %d; changes the result", configuration.MostWorkers))
	set.IntVar(&f.localSteps, "local_steps", 8, "steps of each worker in a round, 1 or more, with --workers above 1")
	set.BoolVar(&f.resume, "resume", false,
		"resume from the newest checkpoint, with its hyperparameters, seed and validation; --epochs may be larger")
	set.Float64Var(&f.every, "checkpoint_minutes", 10, "longest time between checkpoints inside an epoch; 0 to 10")
	set.Float64Var(&f.minutes, "minutes", defaultMinutes, "time of the training, more than 0 and at most 1000000, "+
		"with its validations and the fit of probabilities; with --resume so much more")
	f.Register(set)
	set.IntVar(&f.validation.Every, "validate_every", 1, "epochs between validations, 1 or more; the last epoch is always validated")
	set.Int64Var(&f.validation.Limit, "valid_limit", 0, "most validation queries per epoch, 0 or more, spread evenly over all; 0 takes all")
	set.IntVar(&f.validation.Patience, "patience", 0,
		"end the training after so many epochs without a better validation MRR, 0 or more; 0 trains all --epochs")
}

// check validates the flags, except the hyperparameters, which --resume may complete.
func (f *flags) check(e *command.Environment) error {
	if _, err := configuration.NewRounds(f.workers, f.localSteps); err != nil {
		return command.Usage("--%v", err)
	}
	switch {
	case !(f.every >= 0 && f.every <= 10):
		return command.FlagError("checkpoint_minutes", f.every, "0 to 10")
	case f.validation.Every < 1:
		return command.FlagError("validate_every", f.validation.Every, "1 or more")
	case f.validation.Limit < 0:
		return command.FlagError("valid_limit", f.validation.Limit, "0 or more")
	case f.validation.Patience < 0:
		return command.FlagError("patience", f.validation.Patience, "0 or more")
	}
	return cmp.Or(f.Check(), e.NotEmpty("a preset file, or one of "+strings.Join(configuration.PresetNames(), ", "), "preset"), e.NotEmpty("a file", "from"))
}
