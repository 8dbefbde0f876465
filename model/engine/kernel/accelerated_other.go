//go:build !amd64

package kernel

// accelerated returns nil: only amd64 has variants in assembly.
func accelerated() []Kernel { return nil }
