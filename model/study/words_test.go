package study

import "testing"

func TestWords(t *testing.T) {
	t.Parallel()
	widths := []int{1, 4, 8}
	for _, test := range []struct{ entities, sources, limit, want int }{
		{1000, 1, 8, 1}, {1000, 64, 8, 1}, {1000, 65, 8, 4}, {1000, 256, 8, 4}, {1000, 257, 8, 8},
		{1000, 5000, 8, 8}, {1 << 20, 5000, 3, 1}, {1 << 18, 5000, 8, 8}, {1 << 19, 5000, 4, 4}, {1 << 30, 5000, 0, 1},
		{40_000, 5000, 8, 8}, {60_000, 5000, 8, 4}, {100_000, 5000, 8, 8}, // half the width stays in the cache, or does not either
	} {
		if got := Words(widths, test.entities, test.sources, both, test.limit); got != test.want {
			t.Errorf("Words(%+v) = %d", test, got)
		}
	}
}
