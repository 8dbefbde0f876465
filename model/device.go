package model

// WithDevice makes Train train, and the model score, on a device: "cuda", "cuda:1" or another number, "cuda:all" for
// all of the machine, or "auto" for one if it can be used; by default "cpu". The program registers the devices, as this
// package links no driver:
//
//	func init() { accelerator.Register(gpu.Driver(cuda.Open)) } // all three are packages below tagnet/model
//
// One that cannot be used is an error of the function that makes the model; with "auto" the CPU takes its place, also
// where its memory turns out to be too small. A device answers one call at a time and rounds differently from the
// kernels. Explain computes on the CPU.
func WithDevice(name string) Option { return func(o *options) { o.device = name } }

// Device says in a line what the model scores on, and why that is the CPU with "auto"; it is empty for "cpu".
func (m *Model) Device() string { return m.opened.Computing() }

// Close gives back what the model holds on a device, after all other calls. Without one it does nothing.
func (m *Model) Close() error { return m.opened.Close() }
