package budget

import "runtime/debug"

// outside is what of a process Go's limit does not count: the program's file as it is mapped.
const outside = 80 * MiB

// Limit has the garbage collector keep the process within a budget of bytes, as far as what is
// in use allows, and returns what puts things back. A lower limit that is set already
// (GOMEMLIMIT) stays.
func Limit(budget int64) (restore func()) {
	limit := max(budget-outside, Base)
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, limit))
	return func() { debug.SetMemoryLimit(before) }
}
