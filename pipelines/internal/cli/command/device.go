package command

import (
	"flag"

	"tagnet/model/engine/device"
)

// Device registers --device, what to compute on.
func Device(set *flag.FlagSet, choice *device.Choice) {
	*choice = device.Choice{Mode: device.Auto}
	set.Var(choice, "device", "`auto|cpu|cuda|cuda:n|cuda:all`: what to compute on; auto is a CUDA device if there is one that computes the configuration and has the memory, else the CPU; cuda:all scores on all CUDA devices of a machine")
}
