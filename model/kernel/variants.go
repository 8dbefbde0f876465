package kernel

import (
	"fmt"
	"os"
	"strings"
)

// names are all the variants there are, slowest first; a machine runs some of them.
var names = []string{"portable", "avx2", "avx512"}

// Available is every variant that this machine can run, portable first, fastest last.
func Available() []Kernel { return append([]Kernel{portable{}}, accelerated()...) }

// variable is the environment variable that names a variant where nothing else does.
const variable = "TAGNET_KERNEL"

// Named chooses a variant: "portable", "avx2", "avx512", or "auto" for the fastest that this
// machine can run. The empty name stands for the environment's TAGNET_KERNEL, or "auto"
// where that is not set. It is an error to name a variant that does not exist, or one that
// the processor or its operating system lacks; of the environment's, it names the variable.
func Named(name string) (Kernel, error) {
	if name != "" {
		return find(name)
	}
	if name = os.Getenv(variable); name == "" {
		return find("auto")
	}
	k, err := find(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	return k, nil
}

func find(name string) (Kernel, error) {
	available := Available()
	if name == "auto" {
		return available[len(available)-1], nil
	}
	usable := []string{"auto"}
	for _, k := range available {
		if k.Name() == name {
			return k, nil
		}
		usable = append(usable, k.Name())
	}
	for _, known := range names {
		if known == name {
			return nil, fmt.Errorf("kernel %q needs instructions that this machine lacks; use %s", name, strings.Join(usable, ", "))
		}
	}
	return nil, fmt.Errorf("unknown kernel %q; use auto, %s", name, strings.Join(names, ", "))
}
