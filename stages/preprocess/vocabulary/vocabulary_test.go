package vocabulary

import (
	"testing"

	"tagnet/model/budget"
)

// TestBufferBytes expects that threads divide what a plan leaves.
func TestBufferBytes(t *testing.T) {
	t.Parallel()
	plan := budget.Plan{Threads: 3, Free: 96 * budget.MiB}
	if got := BufferBytes(plan, 0); got != 32*budget.MiB {
		t.Errorf("%d bytes", got)
	}
	if got := BufferBytes(plan, 99); got != 99 {
		t.Errorf("%d bytes, the limit is 99", got)
	}
}
