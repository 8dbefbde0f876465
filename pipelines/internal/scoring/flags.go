package scoring

import (
	"cmp"
	"flag"
	"fmt"

	"tagnet/model/accelerator"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/pipelines/internal/cli/command"
)

func init() { accelerator.Register(gpu.Driver(cuda.Open)) } // the devices of --device

// Flags are the flags of the model and of what is computed with it.
type Flags struct {
	command.Resources
	Model       string
	Reach, Best int // Best is --top_k
}

// Register registers the flags. best explains --top_k; without it there is none.
func (f *Flags) Register(set *flag.FlagSet, best string) {
	set.StringVar(&f.Model, "model", "best", command.ModelUsage())
	command.ReachFlag(set, &f.Reach)
	if best != "" {
		set.IntVar(&f.Best, "top_k", 10, best)
	}
	f.Resources.Register(set)
}

// Check validates the flags. leastBest is the least --top_k.
func (f *Flags) Check(e *command.Environment, leastBest int) error {
	if f.Best < leastBest {
		return command.FlagError("top_k", f.Best, fmt.Sprintf("%d or more", leastBest))
	}
	return cmp.Or(e.NotEmpty("the name of a model", "model"), f.Resources.Check())
}
