package distances

import (
	"testing"

	"tagnet/model/budget"
)

// TestWidest holds that a worker searches as many sources at once as its budget holds, and with
// more threads where that is the same.
func TestWidest(t *testing.T) {
	needs := map[int]budget.Need{}
	for _, words := range Widths {
		needs[words] = budget.Need{Thread: int64(words) * 100 * budget.MiB}
	}
	for memory, want := range map[int64]Width{
		250: {Threads: 0, Words: 1}, 320: {Threads: 1, Words: 1}, 430: {Threads: 2, Words: 1}, 660: {Threads: 2, Words: 2}, 1110: {Threads: 2, Words: 4}, 2100: {Threads: 2, Words: 8}, 100000: {Threads: 2, Words: 8},
	} {
		if got := Widest(needs, memory*budget.MiB, 2); got != want {
			t.Errorf("%d MiB: %+v, want %+v", memory, got, want)
		}
	}
	if got := Widest(needs, 1110*budget.MiB, 1); got != (Width{Threads: 1, Words: 8}) {
		t.Errorf("one core: %+v", got)
	}
}
