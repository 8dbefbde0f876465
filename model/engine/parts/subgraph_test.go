package parts

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
)

// draw returns a graph, with hubs in every other one, and a query, with further answers in every third one.
func draw(t *testing.T, seed uint64) (g *graph.Graph, q graph.Query) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	entities := 20 + rng.IntN(200)
	facts := make([]graph.Fact, entities+rng.IntN(3*entities))
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(3)), Tail: int32(rng.IntN(entities))}
		if seed%2 == 0 && rng.IntN(3) == 0 {
			facts[i].Tail = int32(rng.IntN(2))
		}
	}
	g, err := graph.New(entities, 3, facts)
	if err != nil {
		t.Fatal(err)
	}
	f := facts[rng.IntN(len(facts))]
	q = graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}
	if rng.IntN(4) > 0 {
		q.Removal = graph.RemoveFact + graph.Removals(rng.IntN(2))
	}
	if seed%3 == 0 {
		q.Others = new(graph.Others)
		for _, o := range facts {
			if o.Head == q.Source && o.Tail != q.Answer {
				*q.Others = append(*q.Others, o.Tail)
			}
		}
		slices.Sort(*q.Others)
	}
	return g, q
}

// dense returns the scores of all entities by power iteration in float64, as shares of the mass of the source.
func dense(g *graph.Graph, q graph.Query, hops int) []float64 {
	mass, scores := make([]float64, g.Entities), make([]float64, g.Entities)
	mass[q.Source], scores[q.Source] = 1, 1
	for range hops {
		next := make([]float64, g.Entities)
		for o := range int32(g.Entities) {
			senders, relations := g.In(o)
			for i, u := range senders {
				if !g.Removes(q, u, relations[i], o) {
					next[o] += 0.85 * mass[u] / float64(g.DegreeWithout(u, q))
				}
			}
		}
		for o, m := range next {
			scores[o] += m
		}
		mass = next
	}
	return scores
}

// TestPushAgainstPowerIteration compares the scores of a push without a floor with those of power iterations.
func TestPushAgainstPowerIteration(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		g, q := draw(t, seed)
		hops := 1 + int(seed%6)
		f := NewFinder(g, 1, hops)
		f.push(q, 0, math.MaxInt)
		want := dense(g, q, hops)
		for o := range int32(g.Entities) {
			got := 0.0
			if number := f.found.find(o); number >= 0 {
				got = float64(f.scores[number]) / float64(unit)
			}
			if !(math.Abs(got-want[o]) <= 1e-12) {
				t.Fatalf("seed %d: entity %d has score %g, want %g", seed, o, got, want[o])
			}
		}
	}
}

// TestPartHasTheHighestScores compares parts with the ranking of all entities by their scores, ties by id, of a push
// with the floor that doc.go describes.
func TestPartHasTheHighestScores(t *testing.T) {
	t.Parallel()
	cut := 0
	for seed := range uint64(200) {
		g, q := draw(t, seed)
		rng := rand.New(rand.NewPCG(seed, 12))
		most, hops := 1+rng.IntN(g.Entities), 1+rng.IntN(5)
		var part Subgraph
		NewFinder(g, most, hops).Find(q, &part)
		within := 0
		for _, score := range dense(g, q, hops) {
			if score > 0 {
				within++
			}
		}
		if within <= most {
			if len(part.Entities) != within {
				t.Fatalf("seed %d: %d entities, want all %d within %d hops", seed, len(part.Entities), within, hops)
			}
			continue
		}
		cut++
		f := NewFinder(g, most, hops)
		f.pushTo(q)
		all := slices.Clone(f.found.entities)
		slices.SortFunc(all, func(a, b int32) int {
			if (a == q.Source) != (b == q.Source) {
				return map[bool]int{true: -1, false: 1}[a == q.Source]
			}
			return cmp.Or(cmp.Compare(f.scores[f.found.find(b)], f.scores[f.found.find(a)]), cmp.Compare(a, b))
		})
		want := all[:min(most, len(all))]
		slices.Sort(want)
		if !slices.Equal(part.Entities, want) {
			t.Fatalf("seed %d: entities %v, want %v", seed, part.Entities, want)
		}
	}
	if cut < 50 {
		t.Errorf("only %d parts leave out entities", cut)
	}
}

// TestPartIsInduced compares the edges and degrees of parts with those of the graph, found entity by entity.
func TestPartIsInduced(t *testing.T) {
	t.Parallel()
	hubs, outside, both := 0, 0, 0
	for seed := range uint64(200) {
		g, q := draw(t, seed)
		most := 1 + int(seed%23)
		var part Subgraph
		f := NewFinder(g, most, 3)
		f.Find(q, &part)
		if !slices.IsSorted(part.Entities) || part.Entities[part.Source] != q.Source {
			t.Fatalf("seed %d: entities %v with source %d", seed, part.Entities, part.Source)
		}
		local := part.Of(g)
		for i, o := range part.Entities {
			senders, relations := g.In(o)
			if len(senders) > manyEdges*len(part.Entities) {
				hubs++
			}
			var want, got [][2]int32
			for j, u := range senders {
				if at := part.Local(u); at >= 0 {
					want = append(want, [2]int32{at, relations[j]})
				}
			}
			senders, relations = local.In(int32(i))
			for j, u := range senders {
				got = append(got, [2]int32{u, relations[j]})
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: edges of %d are %v, want %v", seed, o, got, want)
			}
			if degree := local.DegreeWithout(int32(i), part.Query); degree != g.DegreeWithout(o, q) {
				t.Fatalf("seed %d: degree of %d is %d, want %d", seed, o, degree, g.DegreeWithout(o, q))
			}
		}
		if q.Removal != graph.RemoveNothing && part.Local(q.Answer) < 0 {
			outside++
		}
		if inside := part.Answers(); q.Removal != graph.RemoveNothing && inside > 1 && inside < q.Answers()-1 {
			both++
		}
	}
	if hubs < 20 || outside < 20 || both < 5 {
		t.Errorf("only %d hubs, %d removals to an entity outside, and %d to others inside and outside", hubs, outside, both)
	}
}

// TestFindersAreReused compares the parts of a finder that has found others with those of a new one.
func TestFindersAreReused(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	g := golden.RandomGraph(t, rng, 3000, 4, 9000)
	used, part := NewFinder(g, 300, 4), Subgraph{}
	for range 50 {
		source := int32(rng.IntN(g.Entities))
		used.Find(graph.Query{Source: source}, &part)
		var want Subgraph
		NewFinder(g, 300, 4).Find(graph.Query{Source: source}, &want)
		if got, want := fmt.Sprint(part), fmt.Sprint(want); got != want {
			t.Fatalf("source %d: %s, want %s", source, got, want)
		}
	}
}

// hubbed returns a chain of entities, each of which leads to the first one, too.
func hubbed(t *testing.T, entities int32) *graph.Graph {
	t.Helper()
	var facts []graph.Fact
	for o := range entities - 1 {
		facts = append(facts, graph.Fact{Head: o, Tail: 0}, graph.Fact{Head: o, Tail: o + 1})
	}
	g, err := graph.New(int(entities), 1, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestPushIsLocal bounds the work of a push next to a hub, by the entities that it touches.
func TestPushIsLocal(t *testing.T) {
	t.Parallel()
	const most = 100
	g := hubbed(t, 100_000)
	f, part := NewFinder(g, most, 6), Subgraph{}
	f.Find(graph.Query{Source: 50_000}, &part)
	if touched := cap(f.scores); touched > Searched*most {
		t.Errorf("%d entities are touched for a part of %d", touched, most)
	}
}

// BenchmarkFind finds parts of 20,000 entities in graphs of two sizes with the same degrees, of which some are hubs.
func BenchmarkFind(b *testing.B) {
	for _, entities := range []int{100_000, 1_000_000} {
		rng := rand.New(rand.NewPCG(1, 1))
		facts := make([]graph.Fact, 4*entities)
		for i := range facts {
			u := rng.Float64()
			facts[i] = graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(100)), Tail: int32(u * u * u * float64(entities))}
		}
		g, err := graph.New(entities, 100, facts)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(entities), func(b *testing.B) {
			f, part := NewFinder(g, 20_000, 6), Subgraph{}
			edges := 0
			for b.Loop() {
				f.Find(graph.Query{Source: int32(rng.IntN(entities))}, &part)
				edges += len(part.Senders)
			}
			b.ReportMetric(float64(edges)/float64(b.N), "edges/op")
			b.ReportMetric(float64(edges)/float64(b.N)/20_000/8, "edges/mean")
		})
	}
}
