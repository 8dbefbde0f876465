package kernels

import (
	"embed"
	"fmt"
	"regexp"
)

//go:embed *.ptx
var files embed.FS

// Sources are the names of the sources, without their ending.
var Sources = []string{"search", "rows", "strips", "embed", "aggregate", "update", "head", "states", "backward", "features", "weights", "relations", "optimizer", "ranking"}

// Source returns the PTX of the source name.cu, compiled for an embedding dimension, which does not matter to a source that does not depend
// on it.
func Source(name string, dim int) (ptx string, err error) {
	for _, file := range []string{fmt.Sprintf("%s_%d.ptx", name, dim), name + ".ptx"} {
		if text, err := files.ReadFile(file); err == nil {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("no kernels %q are compiled for dimension %d", name, dim)
}

var entry = regexp.MustCompile(`(?m)^\s*(?:\.visible\s+)?\.entry\s+(\w+)`)

// Entries returns the names of the kernels in PTX.
func Entries(ptx string) (names []string) {
	for _, match := range entry.FindAllStringSubmatch(ptx, -1) {
		names = append(names, match[1])
	}
	return names
}
