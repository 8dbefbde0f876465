package budget

import (
	"runtime/debug"
	"testing"
)

// TestNoLimit sets no limit for a budget of 0.
func TestNoLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer Limit(0)()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("limit %d, want %d", got, before)
	}
}
