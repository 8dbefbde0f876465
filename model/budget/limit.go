package budget

import "runtime/debug"

// outside is what of a process Go's limit does not count: the program's file as it is mapped.
const outside = 80 * MiB

// Limit makes the garbage collector keep the process within a budget of bytes, as far as the memory in
// use allows; a budget of 0 is none. A lower limit that is already set (GOMEMLIMIT) stays. restore sets
// the limit before; without it the limit holds until the process ends.
func Limit(budget int64) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if budget > 0 {
		debug.SetMemoryLimit(min(before, max(budget-outside, Base)))
	}
	return func() { debug.SetMemoryLimit(before) }
}
