package kernel

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"tagnet/formats/remedy"
)

// Names lists all variants, slowest first; a machine supports some of them.
var Names = []string{"portable", "avx2", "avx512"}

// Available returns the variants that this machine supports, portable first, fastest last.
func Available() []Kernel { return append([]Kernel{portable{}}, accelerated()...) }

// variable is the environment variable that names the default variant.
const variable = "TAGNET_KERNEL"

// Named returns a variant by name: "portable", "avx2", "avx512", or "auto" for the fastest that this
// machine supports. The empty name stands for the environment variable TAGNET_KERNEL, or "auto"
// where that is not set. It returns an error for a variant that does not exist or that the
// processor or operating system does not support; the error names the environment variable if the
// name came from there.
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

// find returns the kernel of a name, auto for the fastest. The error names what this processor can use.
func find(name string) (Kernel, error) {
	available := Available()
	if name == "auto" {
		return available[len(available)-1], nil
	}
	var usable []string
	for _, k := range available {
		if k.Name() == name {
			return k, nil
		}
		usable = append(usable, k.Name())
	}
	if slices.Contains(Names, name) {
		host, _ := os.Hostname() // a worker's error is read elsewhere
		return nil, remedy.Errorf(remedy.Do("use %v %s", remedy.Flag("kernel"), strings.Join(usable, " or ")),
			"kernel %q needs instructions that the processor of host %s lacks", name, host)
	}
	return nil, fmt.Errorf("unknown kernel %q; use auto, %s", name, strings.Join(Names, ", "))
}
