package kernels

import (
	"embed"
	"fmt"
)

//go:embed *
var files embed.FS

// Source returns the PTX of the source name.cu, compiled for an embedding dimension. The dimension does not matter to a
// source that does not depend on it.
func Source(name string, dim int) (ptx string, err error) {
	for _, file := range []string{fmt.Sprintf("%s_%d.ptx", name, dim), name + ".ptx"} {
		if text, err := files.ReadFile(file); err == nil {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("no kernels %q are compiled for dimension %d", name, dim)
}
