package command

import (
	"flag"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"tagnet/model/engine/kernel"
	"tagnet/pipelines/internal/cli/job"
)

// Kernel registers --kernel, the variant of the compute kernels. what describes its effect.
func Kernel(set *flag.FlagSet, name *string, what string) {
	set.StringVar(name, "kernel", "", "`auto|"+strings.Join(kernel.Names, "|")+"`: "+what+"; default $TAGNET_KERNEL, or auto")
}

// Variant returns the name of the variant that --kernel selects on this machine. All workers of a job
// compute with it: of two kinds of processors, auto on each would give other bytes than one. It tells
// the user once if the workers run elsewhere. The name has passed CheckKernel.
func (e *Environment) Variant(name string) string {
	k, err := kernel.Named(name)
	if err != nil {
		return name
	}
	if chosen := name == "" && os.Getenv("TAGNET_KERNEL") == "" || name == "auto"; chosen && Elsewhere() && !e.variantSaid {
		e.variantSaid = true
		e.Say("--kernel %s on all workers, the fastest of this machine; if a worker's processor lacks it, give --kernel avx2 or portable", k.Name())
	}
	return k.Name()
}

// Elsewhere reports whether workers run in other processes than this one.
func Elsewhere() bool {
	return dataflow() || job.Selected() && !strings.EqualFold(*jobopts.EnvironmentType, "LOOPBACK")
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
