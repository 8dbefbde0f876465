package window

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
)

// TestFillForFindsTheNeededStates compares the needed states, with and without the other entities' rows,
// with those that follow from the distances alone, and what the needed states read with a full layout.
func TestFillForFindsTheNeededStates(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 7))
	fewer := 0
	for i := range 400 {
		g := randomGraph(t, rng)
		variants := kernel.Available()
		full := NewLayout(g, variants[i%len(variants)], nil)
		every, cone := NewLayout(g, variants[i%len(variants)], full), NewLayout(g, variants[i%len(variants)], full)
		for range 3 {
			source, hops, delta, table := int32(rng.IntN(g.Entities)), 1+rng.IntN(6), rng.IntN(5), int32(g.Entities)
			q := graph.Query{Source: source}
			if senders, relations := g.In(source); len(senders) > 0 && rng.IntN(2) == 0 {
				q = graph.Query{Source: source, Relation: g.Inverse(relations[0]), Answer: senders[0], Removal: graph.RemoveFact + graph.Removals(rng.IntN(2))}
			}
			candidates := make([]int32, 1+rng.IntN(4))
			for i := range candidates {
				candidates[i] = int32(rng.IntN(g.Entities))
			}
			full.Fill(q, hops, delta, table)
			every.FillFor(q, hops, delta, table, candidates, true)
			cone.fillCone(q, hops, delta, table, candidates)
			want := neededAges(g, q, hops, delta, candidates)
			for name, l := range map[string]*Layout{"with all rows": every, "with the rows needed": cone} {
				got := make([]uint8, g.Entities)
				for row, ages := range l.Needed {
					got[l.Entities[row]] = ages
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, source %d, %d hops, delta %d, candidates %v (-want +got):\n%s", name, source, hops, delta, candidates, diff)
				}
				compareNeededRows(t, full, l)
			}
			if cone.Count() < full.Count() {
				fewer++
			}
		}
	}
	if fewer < 100 {
		t.Errorf("only %d layouts have left rows out", fewer)
	}
}

// neededAges returns the number of needed states of every entity.
func neededAges(g *graph.Graph, q graph.Query, hops, delta int, candidates []int32) []uint8 {
	distances := make([]uint8, g.Entities)
	graph.NewSearcher(g).Search(q.Source, hops, q, distances)
	ages := make([]uint8, g.Entities)
	raise := func(o int32, to int) (changed bool) {
		if int(ages[o]) >= to {
			return false
		}
		ages[o] = uint8(to)
		return true
	}
	for _, o := range candidates {
		if distance := int(distances[o]); distance <= hops {
			raise(o, min(delta, hops-distance)+1)
		}
	}
	for changed := true; changed; {
		changed = false
		for o := range int32(g.Entities) {
			senders, relations := g.In(o)
			for i, u := range senders {
				if ages[o] == 0 || g.Removes(q, u, relations[i], o) || int(distances[u]) > hops {
					continue
				}
				kind := int(distances[u]) - int(distances[o]) + 1
				changed = raise(u, int(ages[o])-kind) || changed
			}
		}
	}
	return ages
}

// compareNeededRows compares the order of rows, and what their needed states read, with a full layout.
func compareNeededRows(t *testing.T, full, l *Layout) {
	t.Helper()
	if l.SourceChildren != full.SourceChildren || l.Row(full.Entities[0]) != 0 {
		t.Fatalf("the source is in row %d and has children %v, want row 0 and %v", l.Row(full.Entities[0]), l.SourceChildren, full.SourceChildren)
	}
	last := int32(-1)
	for row, o := range l.Entities {
		i := full.Row(o)
		if i <= last || l.Degrees[row] != full.Degrees[i] || l.Distance(int32(row)) != full.Distance(i) {
			t.Fatalf("entity %d is in row %d with degree %d at distance %d; the full layout has row %d after %d, degree %d, distance %d",
				o, row, l.Degrees[row], l.Distance(int32(row)), i, last, full.Degrees[i], full.Distance(i))
		}
		last = i
		for kind := range min(int(l.Needed[row]), 3) {
			if diff := cmp.Diff(sendersOf(full, i, kind), sendersOf(l, int32(row), kind), cmp.AllowUnexported(edge{})); diff != "" {
				t.Fatalf("senders of kind %d of entity %d (-want +got):\n%s", kind, o, diff)
			}
		}
	}
}

// sendersOf returns a row's senders of a kind, in order.
func sendersOf(l *Layout, row int32, kind int) (edges []edge) {
	for e := l.Senders.Offsets[3*int(row)+kind]; e < l.Senders.Offsets[3*int(row)+kind+1]; e++ {
		edges = append(edges, edge{l.Entities[l.SenderRow(l.Senders.Rows[e], kind)], l.Senders.Relations[e]})
	}
	return edges
}

// TestNeededStatesAreDivided expects that the needed states of an age of a level, and no others, are
// divided into representatives and duplicates, and that a duplicate's messages are those of its
// representative. Many entities hang on few others.
func TestNeededStatesAreDivided(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 8))
	const hubs, entities, hops, delta = 6, 120, 5, 3
	duplicates := 0
	for range 50 {
		var facts []graph.Fact
		for leaf := int32(hubs); leaf < entities; leaf++ {
			facts = append(facts, graph.Fact{Head: leaf, Relation: int32(rng.IntN(2)), Tail: rng.Int32N(hubs)})
		}
		for range 12 {
			facts = append(facts, graph.Fact{Head: rng.Int32N(entities), Relation: 2, Tail: rng.Int32N(hubs)})
		}
		g, err := graph.New(entities, 3, facts)
		if err != nil {
			t.Fatal(err)
		}
		l := NewLayout(g, kernel.Available()[0], nil)
		candidates := []int32{rng.Int32N(entities), rng.Int32N(entities), rng.Int32N(entities)}
		l.fillCone(graph.Query{Source: rng.Int32N(entities)}, hops, delta, entities, candidates)
		l.FindEquivalent(Criteria{Needed: true})
		for age := range l.Ages {
			a := &l.Ages[age]
			for level := range hops + 1 - age {
				got := map[int32]bool{}
				for _, row := range a.Representatives[a.RepresentativeLevels[level]:a.RepresentativeLevels[level+1]] {
					got[row] = true
				}
				for _, d := range a.Duplicates[a.DuplicateLevels[level]:a.DuplicateLevels[level+1]] {
					duplicates++
					if !got[d.Of] || got[d.Row] || !l.equivalent(d.Of, d.Row, age, Criteria{}) {
						t.Fatalf("level %d, age %d: row %d is a duplicate of %d", level, age, d.Row, d.Of)
					}
					got[d.Row] = true
				}
				want := map[int32]bool{}
				for _, row := range l.Level(level) {
					if int(l.Needed[row]) > age && (level > 0 || age > 0) {
						want[row] = true
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("level %d, age %d: rows (-want +got):\n%s", level, age, diff)
				}
			}
		}
	}
	if duplicates < 1000 {
		t.Errorf("only %d duplicates", duplicates)
	}
}
