// Package accelerator decides what a worker process trains and scores on: a device, which computes what packages optimizer
// and inference compute on the processor, or the processor itself. It opens a device once per process; open.go is the only
// file of the stages that knows which kinds of devices there are.
package accelerator
