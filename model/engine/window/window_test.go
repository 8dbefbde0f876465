package window

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/formats/hop"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
)

func randomGraph(t testing.TB, rng *rand.Rand) *graph.Graph {
	t.Helper()
	entities, relations := 2+rng.IntN(40), 1+rng.IntN(3)
	facts := make([]graph.Fact, rng.IntN(3*entities))
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(relations)), Tail: int32(rng.IntN(entities))}
	}
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// edge is an edge into an entity.
type edge struct{ sender, relation int32 }

// admitted lists the edges into o that the paper's edge constraint admits, in terms of the
// distances of their ends: dist(sender) < dist(o) + delta.
func admitted(g *graph.Graph, o int32, distances []uint8, hops, delta int, q graph.Query) []edge {
	var edges []edge
	senders, relations := g.In(o)
	for i, u := range senders {
		if g.Removes(q, u, relations[i], o) || int(distances[u]) > hops {
			continue
		}
		if int(distances[u]) < int(distances[o])+delta {
			edges = append(edges, edge{u, relations[i]})
		}
	}
	return edges
}

func sorted(edges []edge) []edge {
	slices.SortFunc(edges, func(a, b edge) int {
		return int(a.sender-b.sender)*1000 + int(a.relation-b.relation)
	})
	return edges
}

func TestFillAdmitsWhatThePaperDoes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 2))
	for i := range 300 {
		g := randomGraph(t, rng)
		variants := kernel.Available()
		l := NewLayout(g, variants[i%len(variants)], nil)
		distances := make([]uint8, g.Entities)
		for range 3 { // a layout serves several sources
			source, hops, delta := int32(rng.IntN(g.Entities)), rng.IntN(6), rng.IntN(4)
			q := graph.Query{Source: source}
			if senders, relations := g.In(source); len(senders) > 0 && rng.IntN(2) == 0 {
				q = graph.Query{Source: source, Relation: g.Inverse(relations[0]), Answer: senders[0], Removal: graph.RemoveFact + graph.Removals(rng.IntN(2))}
			}
			graph.NewSearcher(g).Search(source, hops, q, distances)
			table := []int32{0, int32(g.Entities)}[rng.IntN(2)]
			l.Fill(q, hops, delta, table)
			check(t, l, g, distances, hops, delta, table, q)
		}
	}
}

func check(t *testing.T, l *Layout, g *graph.Graph, distances []uint8, hops, delta int, table int32, q graph.Query) {
	t.Helper()
	reached := 0
	for o, distance := range distances {
		if distance != hop.Unreached {
			reached++
		}
		row := l.Row(int32(o))
		if reached := row != kernel.NoRow; reached != (distance != hop.Unreached) || reached && l.Distance(row) != int(distance) {
			t.Fatalf("entity %d is in row %d, want distance %d", o, row, distance)
		}
	}
	if l.Count() != reached || len(l.Levels) != hops+2 || int(l.Levels[hops+1]) != reached {
		t.Fatalf("%d rows, levels %v, want %d", l.Count(), l.Levels, reached)
	}
	for level := range hops + 1 {
		var senders [3]int64
		for j, i := range l.Level(level) {
			o := l.Entities[i]
			if int(distances[o]) != level || l.Row(o) != i || j > 0 && l.Degrees[i-1] > int32(g.Degree(o)) {
				t.Fatalf("entity %d in row %d (%d), level %d, has distance %d", o, i, l.Row(o), level, distances[o])
			}
			if int(l.Degrees[i]) != g.DegreeWithout(o, q) {
				t.Fatalf("degree of %d is %d, want %d", o, l.Degrees[i], g.DegreeWithout(o, q))
			}
			var got []edge
			for kind := range 3 {
				for e := l.Senders.Offsets[3*int(i)+kind]; e < l.Senders.Offsets[3*int(i)+kind+1]; e++ {
					row := l.Senders.Rows[e] + int32(kind)*table
					u := l.Entities[row]
					if int(distances[u])-level != kind-1 || l.Row(u) != row || l.SenderRow(l.Senders.Rows[e], kind) != row {
						t.Fatalf("sender %d of %d is of kind %d, listed as %d, at distances %d and %d", u, o, kind, l.Senders.Rows[e], distances[u], level)
					}
					got = append(got, edge{u, l.Senders.Relations[e]})
					senders[kind]++
				}
			}
			if want := admitted(g, o, distances, hops, delta, q); !slices.Equal(sorted(got), sorted(want)) {
				t.Fatalf("entity %d at distance %d, delta %d, admits %v, want %v", o, level, delta, got, want)
			}
			if int(l.Admitted(i)) != len(got) {
				t.Fatalf("entity %d admits %d senders, want %d", o, l.Admitted(i), len(got))
			}
		}
		if got, want := [3]int64{l.Messages(level, 1), l.Messages(level, 2), l.Messages(level, 3)},
			[3]int64{senders[0], senders[0] + senders[1], senders[0] + senders[1] + senders[2]}; got != want {
			t.Fatalf("level %d has %d senders of the first kinds, want %d", level, got, want)
		}
	}
}

func TestFillAll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 3))
	for range 100 {
		g := randomGraph(t, rng)
		l := NewLayout(g, kernel.Available()[0], nil)
		for range 3 {
			source := int32(rng.IntN(g.Entities))
			q := graph.Query{Source: source}
			if senders, relations := g.In(source); len(senders) > 0 && rng.IntN(2) == 0 {
				q = graph.Query{Source: source, Relation: g.Inverse(relations[0]), Answer: senders[0], Removal: graph.RemoveFact}
			}
			l.FillAll(q)
			for row := range int32(g.Entities) {
				o := l.Entities[row]
				var got, want []edge
				for e := l.Senders.Offsets[3*row]; e < l.Senders.Offsets[3*row+1]; e++ {
					got = append(got, edge{l.Entities[l.Senders.Rows[e]], l.Senders.Relations[e]})
				}
				senders, relations := g.In(o)
				for i, u := range senders {
					if !g.Removes(q, u, relations[i], o) {
						want = append(want, edge{u, relations[i]})
					}
				}
				if !slices.Equal(got, want) || int(l.Degrees[row]) != len(want) || l.Row(o) != row {
					t.Fatalf("entity %d has senders %v, want %v; its degree is %d", o, got, want, l.Degrees[row])
				}
			}
		}
	}
}

func BenchmarkFill(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	facts := make([]graph.Fact, 270000)
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(rng.IntN(15000)), Relation: int32(rng.IntN(200)), Tail: int32(rng.IntN(15000))}
	}
	g, err := graph.New(15000, 200, facts)
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range kernel.Available() {
		b.Run(k.Name(), func(b *testing.B) {
			l := NewLayout(g, k, nil)
			b.ReportAllocs()
			for b.Loop() {
				l.Fill(graph.Query{}, 6, 2, 0)
			}
		})
	}
}

// TestFewAreCompared has thousands of neighbors of one entity that differ only in the messages
// they get from one another, or in their degree and relation together. No two rows found to differ
// may have the same hash, or every row would be compared with every other.
func TestFewAreCompared(t *testing.T) {
	t.Parallel()
	const leaves = 4000
	rng := rand.New(rand.NewPCG(8, 1))
	for _, relations := range []int{1, 64} { // to the one entity
		var facts []graph.Fact
		for leaf := int32(1); leaf <= leaves; leaf++ {
			facts = append(facts, graph.Fact{Head: leaf, Relation: rng.Int32N(int32(relations)), Tail: 0})
			for range rng.IntN(2) {
				facts = append(facts, graph.Fact{Head: leaf, Relation: rng.Int32N(400), Tail: 1 + rng.Int32N(leaves)})
			}
		}
		g, err := graph.New(leaves+1, 400, facts)
		if err != nil {
			t.Fatal(err)
		}
		for _, criteria := range []Criteria{{}, {Empties: true}} {
			l := NewLayout(g, kernel.Available()[0], nil)
			l.Fill(graph.Query{}, 3, 2, 0)
			l.FindEquivalent(criteria)
			compared := 0
			for age := range l.Ages {
				seen := map[uint64]bool{}
				a := &l.Ages[age]
				for _, row := range a.Representatives[a.RepresentativeLevels[1]:a.RepresentativeLevels[2]] {
					hash := l.hash(row, age, criteria)
					if hash != incomparable && seen[hash] {
						t.Fatalf("%d relations, %+v, age %d: two rows that are not equivalent have the same hash", relations, criteria, age)
					}
					seen[hash] = true
				}
				compared += len(seen) - 1
			}
			if compared < 50 {
				t.Errorf("%d relations, %+v: only %d hashes", relations, criteria, compared)
			}
		}
	}
}
