package window

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/kernel"
)

// TestMemoryBoundsALayout fills layouts from several sources and compares what they hold with
// the formula.
func TestMemoryBoundsALayout(t *testing.T) {
	k, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ entities, facts, delta int }{{2000, 20000, 3}, {5000, 12000, 2}, {300, 60000, 2}} {
		random := rand.New(rand.NewPCG(1, uint64(test.entities)))
		facts := make([]graph.Fact, test.facts)
		for i := range facts {
			facts[i] = graph.Fact{Head: int32(random.IntN(test.entities)), Relation: int32(random.IntN(9)), Tail: int32(random.IntN(test.entities))}
		}
		g, err := graph.New(test.entities, 9, facts)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		l := NewLayout(g, k, nil)
		for source := range int32(20) {
			l.Fill(source, 6, test.delta, 0, graph.Removal{})
			l.FindEquivalent(Criteria{})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		held, bound := int64(after.HeapAlloc)-int64(before.HeapAlloc), Memory(g, test.delta+1)
		if held > bound || bound > 2*held {
			t.Errorf("%+v: %d bytes are held, the formula says %d", test, held, bound)
		}
		runtime.KeepAlive(l)
	}
}
