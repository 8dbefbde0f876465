package parts

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tagnet/model/graph"
)

// blocks cuts a graph into so many ranges.
func blocks(g *graph.Graph, n int) (list []*EdgeBlock, of func(entity int32) int) {
	start := func(k int) int { return (k*g.Entities + n - 1) / n }
	for k := range n {
		from, to := start(k), start(k+1)
		cut := &graph.Graph{Entities: to - from, BaseRelations: g.BaseRelations, Offsets: make([]int64, to-from+1)}
		for o := from; o < to; o++ {
			senders, relations := g.In(int32(o))
			cut.Senders, cut.Relations = append(cut.Senders, senders...), append(cut.Relations, relations...)
			cut.Offsets[o-from+1] = int64(len(cut.Senders))
		}
		list = append(list, NewEdgeBlock(int32(from), cut))
	}
	return list, func(entity int32) int { return int(entity) * n / g.Entities }
}

// arrive finds a part by rounds, and counts what arrives.
func arrive(t *testing.T, g *graph.Graph, most, hops, n int, q graph.Query) (part Subgraph, rounds, edges int) {
	t.Helper()
	blocks, of := blocks(g, n)
	p, known := NewPartial(most, hops), map[int32]SenderList{}
	for {
		entities, requested := p.Entities(q.Source, known)
		if entities != nil {
			part.Entities = entities
			break
		}
		if rounds++; rounds > Rounds(hops) || len(requested) == 0 {
			t.Fatalf("%d things are requested in round %d of a search of %d hops", len(requested), rounds, hops)
		}
		for _, w := range requested {
			known[w.Entity] = blocks[of(w.Entity)].SendersOf(w, q)
			edges += len(known[w.Entity].Senders)
		}
	}
	for i := 0; i < len(part.Entities); {
		k, from := of(part.Entities[i]), i
		for ; i < len(part.Entities) && of(part.Entities[i]) == k; i++ {
		}
		var piece Subgraph
		blocks[k].Induced(part.Entities, part.Entities[from:i], &piece)
		part.AppendPiece(piece)
	}
	part.SetQuery(q, known[q.Source].Degree)
	return part, rounds, edges
}

// multigraph returns a graph with hubs and parallel edges, and a query.
func multigraph(t *testing.T, seed uint64) (g *graph.Graph, q graph.Query) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 21))
	entities, relations := 10+rng.IntN(300), 1+rng.IntN(6)
	facts := make([]graph.Fact, entities+rng.IntN(4*entities))
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(relations)), Tail: int32(rng.IntN(entities))}
		switch {
		case seed%3 == 0 && rng.IntN(3) == 0:
			facts[i].Tail = int32(rng.IntN(2)) // a hub
		case seed%3 == 1 && i > 0 && rng.IntN(2) == 0:
			facts[i].Head, facts[i].Tail = facts[i-1].Head, facts[i-1].Tail // a parallel edge
		case rng.IntN(20) == 0:
			facts[i].Tail = facts[i].Head
		}
	}
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	f := facts[rng.IntN(len(facts))]
	if rng.IntN(2) == 0 {
		f = graph.Fact{Head: f.Tail, Relation: g.Inverse(f.Relation), Tail: f.Head}
	}
	q = graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}
	if rng.IntN(4) > 0 {
		q.Removal = graph.RemoveFact + graph.Removals(rng.IntN(2))
	}
	return g, q
}

// TestPartsArriveAsFound compares parts that arrive by rounds with those of a finder that has the graph.
func TestPartsArriveAsFound(t *testing.T) {
	t.Parallel()
	covered, first, second, hubs, outside, latest := 0, 0, 0, 0, 0, 0
	for seed := range uint64(1000) {
		g, q := multigraph(t, seed)
		rng := rand.New(rand.NewPCG(seed, 22))
		most, hops := 1+rng.IntN(1+min(g.Entities, 1<<rng.IntN(9))), 1+rng.IntN(6)
		var want Subgraph
		f := NewFinder(g, most, hops)
		f.Find(q, &want)
		got, rounds, _ := arrive(t, g, most, hops, 1+rng.IntN(5), q)
		if got, want := fmt.Sprint(got), fmt.Sprint(want); got != want {
			t.Fatalf("seed %d, %d entities in %d hops: %s, want %s", seed, most, hops, got, want)
		}
		if rounds == Rounds(hops) {
			latest++
		}
		covers, _ := f.cover(q)
		f.push(q, f.floor(), 1<<30)
		switch {
		case covers:
			covered++
		case len(f.scores) >= most:
			first++
		default:
			second++
		}
		for _, o := range want.Entities {
			if g.Degree(o) > manyEdges*len(want.Entities) {
				hubs++
			}
		}
		if q.Removal != graph.RemoveNothing && want.Removal == graph.RemoveNothing {
			outside++
		}
	}
	t.Log(covered, first, second, hubs, outside, latest)
	if covered < 60 || first < 60 || second < 60 || hubs < 60 || outside < 60 || latest < 15 {
		t.Errorf("%d parts are covered, %d pushed once, %d twice; %d hubs, %d removals outside; %d took all rounds", covered, first, second, hubs, outside,
			latest)
	}
}

// TestLittleArrives bounds what arrives next to hubs that every search finds, and which no part needs.
func TestLittleArrives(t *testing.T) {
	t.Parallel()
	const most = 100
	g := hubbed(t, 100_000)
	for _, source := range []int32{0, 50_000} {
		_, _, edges := arrive(t, g, most, 6, 3, graph.Query{Source: source, Answer: source + 1, Removal: graph.RemoveFact})
		if edges > 10*most {
			t.Errorf("%d edges arrive for a part of %d from %d", edges, most, source)
		}
	}
}
