// Package accelerator decides what a worker process trains and scores on: a device, on which package gpu computes what
// packages optimizer and inference compute on the processor, or the processor itself. It opens a device once per process.
// It links no driver: a program that offers devices registers one.
package accelerator
