package relations

import (
	"math/rand/v2"
	"testing"

	compare "tagnet/model/internal/spec/golden"

	"github.com/google/go-cmp/cmp"
)

// TestMemoryChangesNoEdge counts and collects the edges of random graphs in blocks of a row, of a few
// rows, and in one block.
func TestMemoryChangesNoEdge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 1))
	for _, count := range []int{1, 3, 32, 33, 100} {
		for _, facts := range []int{0, 5, 400} {
			g := compare.RandomGraph(t, rng, 30, count, facts)
			want := GraphOf(g)
			for _, bytes := range []int64{0, 100, 1 << 20} {
				if diff := cmp.Diff(want, graphIn(g, bytes), cmp.AllowUnexported(Graph{})); diff != "" {
					t.Errorf("%d relations, %d facts, %d bytes (-want +got):\n%s", count, facts, bytes, diff)
				}
				if got := edgesIn(g, bytes); got != want.Edges() {
					t.Errorf("%d relations, %d facts, %d bytes: %d edges, want %d", count, facts, bytes, got, want.Edges())
				}
			}
		}
	}
}
