package interpreter

import "fmt"

// Fault is the error of Launch for a mistake of a kernel.
type Fault struct {
	// Kernel is the kernel's name.
	Kernel string
	// Block and Thread number the first thread that failed; Thread is -1 where a whole warp or block did.
	Block, Thread int
	// Line is the line in the PTX, Instruction its text.
	Line        int
	Instruction string
	// What is the reason.
	What string
}

// Error returns a message with all of it.
func (f *Fault) Error() string {
	thread := ""
	if f.Thread >= 0 {
		thread = fmt.Sprintf(", thread %d", f.Thread)
	}
	return fmt.Sprintf("%s, block %d%s, line %d: %s: %s", f.Kernel, f.Block, thread, f.Line, f.Instruction, f.What)
}

// fail stops the block with a fault of a lane, or of the whole warp if lane is -1.
func (w *warp) fail(lane int, format string, a ...any) {
	f := &Fault{Kernel: w.run.kernel.name, Block: w.block.id, Thread: -1, Line: w.at.line, Instruction: w.at.text, What: fmt.Sprintf(format, a...)}
	if lane >= 0 {
		f.Thread = w.first + lane
	}
	panic(f)
}
