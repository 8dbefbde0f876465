// Package accelerator decides whether a process trains and scores on a device or on the CPU, and opens a device once.
// It computes nothing: a program that supports devices registers them, before it trains or scores:
//
//	func init() { accelerator.Register(gpu.Driver(cuda.Open)) }
package accelerator
