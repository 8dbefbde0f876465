// Package kernels holds the CUDA kernels of package gpu, in CUDA C and compiled to PTX, the assembly language that
// NVIDIA's drivers compile for the card at hand. The PTX is committed and embedded, so that a build needs no CUDA.
//
// Each source NAME.cu is compiled for each embedding dimension, as the macro DIM, to NAME_32.ptx, NAME_64.ptx and NAME_128.ptx; one
// whose first line is "// dims: none" does not depend on the dimension and becomes NAME.ptx. After a change, make ptx compiles them (see
// infra/ptx), and make current proves that the committed PTX is what the sources compile to.
package kernels
