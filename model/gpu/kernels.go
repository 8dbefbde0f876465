package gpu

import (
	"embed"
	"fmt"
	"regexp"
)

// The kernels, in CUDA C and compiled to PTX, the assembly language that NVIDIA's drivers compile for the card at hand. The PTX is committed and
// embedded, so that a build needs no CUDA.
//
// Each source NAME.cu is compiled for each embedding dimension, as the macro DIM, to NAME_32.ptx, NAME_64.ptx and NAME_128.ptx; one
// whose first line is "// dims: none" does not depend on the dimension and becomes NAME.ptx. After a change, make ptx compiles them (see
// infra/ptx), and make current fails if the committed PTX differs from what they compile to.
//
//go:embed kernels/*.ptx
var kernelFiles embed.FS

// kernelSources are the names of the sources, without their ending.
var kernelSources = []string{"search", "rows", "strips", "embed", "aggregate", "update", "head", "states", "backward", "features", "weights", "relations", "optimizer", "ranking"}

// kernelSource returns the PTX of the source name.cu, compiled for an embedding dimension, which does not matter to a source that does not depend
// on it.
func kernelSource(name string, dim int) (ptx string, err error) {
	for _, file := range []string{fmt.Sprintf("%s_%d.ptx", name, dim), name + ".ptx"} {
		if text, err := kernelFiles.ReadFile("kernels/" + file); err == nil {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("no kernels %q are compiled for dimension %d", name, dim)
}

var kernelEntry = regexp.MustCompile(`\.visible \.entry (\w+)`)

// kernelEntries returns the names of the kernels in PTX.
func kernelEntries(ptx string) (names []string) {
	for _, match := range kernelEntry.FindAllStringSubmatch(ptx, -1) {
		names = append(names, match[1])
	}
	return names
}
