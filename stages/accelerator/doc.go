// Package accelerator decides what a worker process trains and scores on: a device, which computes what packages optimizer
// and inference compute on the processor, or the processor itself. It opens a device once per process. It knows no kind of
// device: a program imports a package that registers one, such as cuda.
package accelerator
