package kernel

// accelerated is the variants in assembly that this machine can run, fastest last.
func accelerated() []Kernel { return nil }
