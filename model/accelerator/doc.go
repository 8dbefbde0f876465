// Package accelerator decides whether a worker process trains and scores on a device or on the CPU. On a device, package
// gpu computes what packages optimizer and inference compute on the CPU. It opens a device once per process. It links no
// driver: a program that supports devices registers one.
package accelerator
