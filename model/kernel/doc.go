// Package kernel does the arithmetic of the propagation, and of what else a training step
// computes on whole arrays, in float32, and that of searches from many sources, in bits, behind
// one narrow interface with several variants. It knows arrays only: neither graphs nor layers.
package kernel
