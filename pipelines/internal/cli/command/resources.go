package command

import (
	"cmp"
	"flag"
	"fmt"

	"tagnet/model/engine/device"
)

// Resources are the flags of what a command computes with.
type Resources struct {
	Threads int
	Kernel  string
	Device  device.Choice
	Memory  int64 // MiB
}

// Register registers the flags.
func (r *Resources) Register(set *flag.FlagSet) {
	set.IntVar(&r.Threads, "threads", 0,
		fmt.Sprintf("threads of a worker, up to %d; 0 is one per core, fewer if --memory is too small for them; changes no result", MostThreads))
	Kernel(set, &r.Kernel, "variant of the kernels")
	r.Device = device.Choice{Mode: device.Auto}
	set.Var(&r.Device, "device", "`auto|cpu|cuda|cuda:n|cuda:all`: what to compute on; auto is a CUDA device if there is one that computes the "+
		"configuration and has the memory, else the CPU; cuda:all scores on all CUDA devices of a machine")
	Memory(set, &r.Memory)
}

// Check validates the flags.
func (r *Resources) Check() error {
	if r.Threads < 0 || r.Threads > MostThreads {
		return FlagError("threads", r.Threads, fmt.Sprintf("0 to %d", MostThreads))
	}
	return cmp.Or(CheckKernel(r.Kernel), CheckMemory(r.Memory))
}
