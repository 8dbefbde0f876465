package command

import (
	"flag"

	"tagnet/model/kernel"
)

// Kernel registers --kernel, the variant of the compute kernels. what describes its effect.
func Kernel(set *flag.FlagSet, name *string, what string) {
	set.StringVar(name, "kernel", "", "`auto|portable|avx2|avx512`: "+what+"; default $TAGNET_KERNEL, or auto")
}

// CheckKernel returns an error if this machine lacks the named variant or, for an empty name, the
// one in TAGNET_KERNEL.
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
