package propagation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/weights/configuration"
)

// TestSelectsLikeASort compares the chosen senders and edges with those of plain sorts, over priorities
// of few values, so that there are ties at every cut.
func TestSelectsLikeASort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 9))
	priorities := []float32{float32(math.Inf(1)), 2, 1, 0, float32(math.Copysign(0, -1)), -1, -2, float32(math.Inf(-1)), float32(math.NaN())}
	for range 400 {
		g := randomGraph(t, rng)
		c := configuration.Default()
		c.Policy = configuration.PolicyAStar
		p := New(g, c, kernel.Available()[0])
		p.query.Query = randomQuery(rng, g, c, int32(rng.IntN(g.Entities)))
		a := p.policy.(*astar)
		s := &a.selection
		s.start(0)
		byEntity := make([]float32, g.Entities)
		var visited []int32
		for o := range byEntity {
			if rng.IntN(3) > 0 {
				byEntity[o] = priorities[rng.IntN(len(priorities))]
				s.visit(int32(o), byEntity[o])
				visited = append(visited, int32(o))
			}
		}
		senders := rng.IntN(len(visited) + 2)
		a.bestSenders(senders)
		slices.SortFunc(visited, func(u, v int32) int { return cmp.Or(cmp.Compare(byEntity[v], byEntity[u]), cmp.Compare(u, v)) })
		if want := visited[:min(senders, len(visited))]; !slices.Equal(s.senders, want) {
			t.Fatalf("senders %v, want %v", s.senders, want)
		}

		var all []selectedEdge
		for i, u := range s.senders {
			heads, inverses := g.In(u)
			for j, o := range heads {
				if !g.Removes(p.query.Query, o, inverses[j], u) {
					all = append(all, selectedEdge{o, int32(i), g.Inverse(inverses[j])})
				}
			}
		}
		if total := a.countEdges(); total != len(all) {
			t.Fatalf("%d edges, want %d", total, len(all))
		}
		most := rng.IntN(len(all) + 1)
		chosen, cuts := keepsAll, most < len(all)
		if cuts {
			slices.SortFunc(all, func(x, y selectedEdge) int {
				return cmp.Or(cmp.Compare(byEntity[y.head], byEntity[x.head]), cmp.Compare(x.sender, y.sender), cmp.Compare(x.relation, y.relation),
					cmp.Compare(x.head, y.head))
			})
			all = all[:most]
			chosen = a.cutEdges(most)
		}
		a.listEdges(1, chosen, cuts)
		// The order of the messages to each head matters, that of the heads does not.
		byHead := func(x, y selectedEdge) int { return cmp.Compare(x.head, y.head) }
		got := slices.Clone(s.edges)
		slices.SortStableFunc(got, byHead)
		slices.SortStableFunc(all, byHead)
		if !slices.Equal(got, all) {
			t.Fatalf("edges %v, want %v", got, all)
		}
	}
}

// TestKeysAreOrderedLikePriorities also sorts enough of them for every way of sorting.
func TestKeysAreOrderedLikePriorities(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 9))
	for _, n := range []int{0, 1, 2, 255, 256, 3000} {
		priorities := make([]float32, n)
		order := make([]int, n)
		var s selection
		for i := range priorities {
			priorities[i], order[i] = float32(math.Round(rng.NormFloat64()*100)/float64(1+rng.IntN(50))), i
			s.keys = append(s.keys, uint64(keyOf(priorities[i]))<<32|uint64(i))
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(priorities[j], priorities[i]) })
		s.sort()
		for i, key := range s.keys {
			if int(uint32(key)) != order[i] {
				t.Fatalf("%d of %d is %d, of priority %g; want %d, of priority %g", i, n, uint32(key), priorities[uint32(key)], order[i], priorities[order[i]])
			}
		}
	}
}
