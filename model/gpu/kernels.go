package gpu

import (
	"archive/zip"
	_ "embed" // the archive
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

// The kernels, in CUDA C and compiled to PTX, the assembly language that NVIDIA's drivers compile for the card at hand.
// The PTX is committed and embedded, so that a build needs no CUDA.
//
// Each source NAME.cu is compiled for each embedding dimension, as the macro DIM, to NAME_32.ptx, NAME_64.ptx and
// NAME_128.ptx of the archive; one whose first line is "// dims: none" does not depend on the dimension and becomes
// NAME.ptx. After a change, make ptx compiles them (see infra/ptx), and make current fails if the committed PTX differs
// from what they compile to.
//
//go:embed kernels/ptx.zip
var kernelArchive string

// openKernels opens the archive.
var openKernels = sync.OnceValues(func() (*zip.Reader, error) {
	return zip.NewReader(strings.NewReader(kernelArchive), int64(len(kernelArchive)))
})

// unpacked has the PTX that was read, by file name: a training loads its kernels for each epoch.
var unpacked sync.Map

// kernelSources are the names of the sources, without their ending.
var kernelSources = []string{
	"search", "rows", "strips", "embed", "aggregate", "update", "head", "states", "backward", "features", "weights", "relations", "optimizer", "ranking",
}

// kernelSource returns the PTX of the source name.cu, compiled for an embedding dimension, which does not matter to a
// source that does not depend on it.
func kernelSource(name string, dim int) (ptx string, err error) {
	for _, file := range []string{fmt.Sprintf("%s_%d.ptx", name, dim), name + ".ptx"} {
		if ptx, err = unpack(file); !errors.Is(err, fs.ErrNotExist) {
			return ptx, err
		}
	}
	return "", fmt.Errorf("no kernels %q are compiled for dimension %d", name, dim)
}

func unpack(file string) (ptx string, err error) {
	if text, ok := unpacked.Load(file); ok {
		return text.(string), nil
	}
	archive, err := openKernels()
	if err != nil {
		return "", fmt.Errorf("opening the embedded kernels: %w", err)
	}
	text, err := fs.ReadFile(archive, file)
	if err != nil {
		return "", fmt.Errorf("reading the embedded kernels: %w", err)
	}
	unpacked.Store(file, string(text))
	return string(text), nil
}

var kernelEntry = regexp.MustCompile(`\.visible \.entry (\w+)`)

func kernelEntries(ptx string) (names []string) {
	for _, match := range kernelEntry.FindAllStringSubmatch(ptx, -1) {
		names = append(names, match[1])
	}
	return names
}
