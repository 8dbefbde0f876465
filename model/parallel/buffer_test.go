package parallel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExtendKeepsEntries(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 2, 3, 100} {
		got := Extend([]int{7, 8, 9}, n)
		want := []int{7, 8, 9}[:min(n, 3)]
		if len(got) != n {
			t.Fatalf("Extend to %d entries has %d", n, len(got))
		}
		if diff := cmp.Diff(want, got[:min(n, 3)]); diff != "" {
			t.Errorf("Extend to %d entries (-want +got):\n%s", n, diff)
		}
	}
}

func TestBuffersAreReused(t *testing.T) {
	t.Parallel()
	s := []int{7, 8, 9}
	for name, got := range map[string][]int{"Resize": Resize(s, 2), "Extend": Extend(s, 2)} {
		if len(got) != 2 || &got[0] != &s[0] {
			t.Errorf("%s to fewer entries has %d of another array", name, len(got))
		}
	}
	if diff := cmp.Diff([]int{0, 0, 0, 0}, Cleared(s, 4)); diff != "" {
		t.Errorf("Cleared to 4 entries (-want +got):\n%s", diff)
	}
	if got := Cleared(s, 2); &got[0] != &s[0] || s[0] != 0 || s[1] != 0 || s[2] != 9 {
		t.Errorf("Cleared to 2 entries leaves %v", s)
	}
}
