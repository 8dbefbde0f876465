package scoring

import (
	"flag"
	"fmt"

	"tagnet/model/engine/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/pipelines/internal/cli/command"
)

func init() { accelerator.Register(gpu.Driver(cuda.Open)) } // the devices of --device

// Flags are the flags of the model and of what is computed with it.
type Flags struct {
	Model, Kernel string
	Reach         int
	Device        device.Choice
	// Best is --top_k, Memory a number of MiB.
	Best, Threads int
	Memory        int64
}

// Register registers the flags. best explains --top_k; without it there is none.
func (f *Flags) Register(set *flag.FlagSet, best string) {
	set.StringVar(&f.Model, "model", "best", command.ModelUsage())
	command.ReachFlag(set, &f.Reach)
	if best != "" {
		set.IntVar(&f.Best, "top_k", 10, best)
	}
	set.IntVar(&f.Threads, "threads", 0, fmt.Sprintf("threads of a worker, up to %d; 0 is one per core, fewer if --memory is too small for them; changes no result", command.MostThreads))
	command.Kernel(set, &f.Kernel, "variant of the kernels")
	command.Device(set, &f.Device)
	command.Memory(set, &f.Memory)
}

// Check validates the flags. leastBest is the least --top_k.
func (f *Flags) Check(e *command.Environment, leastBest int) error {
	switch {
	case f.Best < leastBest:
		return command.FlagError("top_k", f.Best, fmt.Sprintf("%d or more", leastBest))
	case f.Threads < 0 || f.Threads > command.MostThreads:
		return command.FlagError("threads", f.Threads, fmt.Sprintf("0 to %d", command.MostThreads))
	}
	if err := e.NotEmpty("the name of a model", "model"); err != nil {
		return err
	}
	if err := command.CheckKernel(f.Kernel); err != nil {
		return err
	}
	return command.CheckMemory(f.Memory)
}
