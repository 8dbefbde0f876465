package bundle

import (
	"flag"
	"fmt"
	"slices"

	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
)

type flags struct {
	split         string
	configuration configuration.Configuration
	limit, memory int64
}

// hyperparameters decide which parts are found. The ones from queries_per_epoch on decide which
// queries a training draws.
var hyperparameters = []string{"reach", "layers", "remove", "queries_per_epoch", "epochs", "batch_size"}

// Pipeline is go run ./pipelines/bundle.
func Pipeline() command.Pipeline {
	f := &flags{configuration: configuration.Default()}
	return command.Pipeline{
		Name:    "bundle",
		Summary: "Finds the part of the graph that each query of a split propagates through, for train and score --bundles. Loads no graph.",
		First:   "workspace split layers reach limit force memory plan",
		Flags: func(set *flag.FlagSet) {
			f.configuration = configuration.Default()
			command.Choice(set, &f.split, "split", parts.Train, kg.Splits, "the split whose queries get parts")
			set.Int64Var(&f.limit, "limit", 0, "with --split valid or test: most queries that get parts, spread evenly over all, those of score --limit "+
				"and train --valid_limit; 0 or more, 0 takes all")
			for _, field := range configuration.Fields() {
				if slices.Contains(hyperparameters, field.Name) {
					set.Var(&hyperparameter{field, f}, field.Name, field.Usage())
				}
			}
			command.Memory(set, &f.memory)
		},
		Run: f.run,
	}
}

// hyperparameter is the flag of a field of the configuration.
type hyperparameter struct {
	configuration.Field
	flags *flags
}

// String returns the value.
func (h *hyperparameter) String() string {
	if h.flags == nil { // package flag makes one to see whether a default is zero
		return ""
	}
	return fmt.Sprint(h.Of(h.flags.configuration))
}

// Set takes a value of the field's type.
func (h *hyperparameter) Set(text string) error {
	return h.Field.Set(&h.flags.configuration, text)
}

// check returns an error of use for values that are out of range or refuse each other.
func (f *flags) check(e *command.Environment) error {
	if err := command.CheckConfiguration(f.configuration); err != nil {
		return err
	}
	if f.configuration.Reach == 0 {
		return command.Usage("--reach is 0, and then a query propagates through the whole graph: give --reach, as to train")
	}
	switch {
	case f.limit < 0:
		return command.FlagError("limit", f.limit, "0 or more")
	case f.limit > 0 && f.split == parts.Train:
		return command.Usage("--limit is a sample of the queries of valid or test: with --split train give --queries_per_epoch, as to train")
	}
	var err error
	e.Flags.Visit(func(g *flag.Flag) {
		switch {
		case f.split != parts.Train && slices.Contains(hyperparameters[2:], g.Name):
			err = command.Usage("--%s is about training queries: leave it out with --split %s", g.Name, f.split)
		case f.configuration.QueriesPerEpoch == 0 && slices.Contains(hyperparameters[4:], g.Name):
			err = command.Usage("--%s decides which queries a training draws with --queries_per_epoch: leave it out, or give that too", g.Name)
		}
	})
	if err != nil {
		return err
	}
	return command.CheckMemory(f.memory)
}

// drawn returns which training queries are wanted, or nil for all of the split.
func (f *flags) drawn(seed int64) *parts.Drawn {
	c := f.configuration
	if f.split != parts.Train || c.QueriesPerEpoch == 0 {
		return nil
	}
	return &parts.Drawn{Batching: c.Batching, BatchSize: c.BatchSize, QueriesPerEpoch: c.QueriesPerEpoch, Epochs: c.Epochs, Seed: seed}
}
