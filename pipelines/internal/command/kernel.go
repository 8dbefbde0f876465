package command

import (
	"flag"

	"tagnet/model/kernel"
)

// Kernel registers --kernel, the variant of the kernels; what says what it is for.
func Kernel(set *flag.FlagSet, name *string, what string) {
	set.StringVar(name, "kernel", "", "`auto|portable|avx2|avx512`: "+what+"; if not given, the environment's TAGNET_KERNEL, or auto")
}

// CheckKernel returns an error if this machine has no variant of that name, or none of the name
// in TAGNET_KERNEL where the name is empty.
func CheckKernel(name string) error {
	_, err := kernel.Named(name)
	switch {
	case err == nil:
		return nil
	case name == "":
		return Usage("%v", err)
	}
	return Usage("--kernel: %v", err)
}
