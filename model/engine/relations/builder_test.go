package relations_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tagnet/model/engine/relations"
	compare "tagnet/model/internal/spec/golden"

	"github.com/google/go-cmp/cmp"
)

// readEdges collects edges between the relations of R base relations.
func readEdges(baseRelations int, edges []relations.Edge) (*relations.Graph, error) {
	r := relations.NewReader(baseRelations)
	for _, e := range edges {
		if err := r.Add(e); err != nil {
			return nil, err
		}
	}
	return r.Graph()
}

// collectPairs collects the pairs of the hh edges among edges.
func collectPairs(baseRelations int, edges []relations.Edge) (*relations.Graph, error) {
	p := relations.NewPairs(baseRelations)
	for _, e := range edges {
		if e.Type == 0 && e.Receiver <= e.Sender {
			if err := p.Add(e.Receiver, e.Sender); err != nil {
				return nil, err
			}
		}
	}
	return p.Graph()
}

// TestRelationGraphIsCollected collects the relation graphs of random graphs, from their pairs and from all of their edges.
func TestRelationGraphIsCollected(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 4))
	for range 20 {
		base := 1 + rng.IntN(40)
		want := relations.GraphOf(compare.RandomGraph(t, rng, 20, base, rng.IntN(60)))
		edges := slices.Collect(want.All)
		for what, collect := range map[string]func(int, []relations.Edge) (*relations.Graph, error){"edges": readEdges, "pairs": collectPairs} {
			got, err := collect(base, edges)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(relations.Graph{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
	}
}

// TestEdgesOfNoRelationGraph changes the edges of a relation graph in which relations 0 and 1 share a head, and relation 2 is alone.
func TestEdgesOfNoRelationGraph(t *testing.T) {
	t.Parallel()
	const base = 4
	m := relations.NewMeetings(base)
	for _, leaving := range [][]int32{{0, 1}, {2}, {4}, {5}, {6}} {
		if err := m.Add(leaving); err != nil {
			t.Fatal(err)
		}
	}
	edges := slices.Collect(m.Graph().All)
	if _, err := readEdges(base, edges); err != nil {
		t.Fatal(err)
	}
	// Without any one edge, with any one twice, and with any one changed, a graph is none.
	for i, e := range edges {
		others := []relations.Edge{{e.Type + 1, e.Receiver, e.Sender}, {e.Type, e.Receiver + 1, e.Sender}, {e.Type, e.Receiver, e.Sender + 1}, {e.Type, e.Receiver, -1}}
		changed := [][]relations.Edge{slices.Delete(slices.Clone(edges), i, i+1), slices.Insert(slices.Clone(edges), i, e)}
		for _, other := range others {
			changed = append(changed, slices.Replace(slices.Clone(edges), i, i+1, other))
		}
		for j, changed := range changed {
			if _, err := readEdges(base, changed); err == nil {
				t.Errorf("change %d of the %v: no error", j, e)
			}
		}
	}
	hh := func(pairs ...[2]int32) (edges []relations.Edge) {
		for _, p := range pairs {
			edges = append(edges, relations.Edge{Receiver: p[0], Sender: p[1]})
		}
		return edges
	}
	both := [][2]int32{{0, 0}, {1, 1}, {4, 4}, {5, 5}}
	for _, c := range []struct {
		what, says string
		edges      []relations.Edge
	}{
		{"one direction", "there is a hh edge from relation 1 to 0, but none from 0 to 1", hh(slices.Insert(slices.Clone(both), 1, [2]int32{0, 1})...)},
		{"the other direction", "there is a hh edge from relation 0 to 1, but none from 1 to 0", hh(slices.Insert(slices.Clone(both), 1, [2]int32{1, 0})...)},
		{"no loop", "relation 0 has edges, but none to itself", hh([2]int32{0, 1}, [2]int32{1, 0}, [2]int32{1, 1}, [2]int32{4, 4}, [2]int32{5, 5})},
		{"no inverse", "of relation 1 and its inverse 5 only one has edges", hh(both[:3]...)},
		{"hh edges alone", "the tt edge from relation 0 to 0 is missing", hh(both...)},
		{"out of order", "out of order, or a repetition", hh([2]int32{1, 1}, [2]int32{0, 0})},
		{"a relation beyond", "not an edge between 8 relations", hh([2]int32{0, 8})},
		{"others without hh", "is one too many", []relations.Edge{{1, 0, 0}}},
		{"another edge", "is not the tt edge from relation 1 to 1", append(hh(both...), relations.Edge{1, 0, 0}, relations.Edge{1, 4, 4})},
	} {
		if _, err := readEdges(base, c.edges); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.says)
		}
	}
}

// TestPairsOutOfOrder checks the errors of pairs that do not come as they should.
func TestPairsOutOfOrder(t *testing.T) {
	t.Parallel()
	for what, pairs := range map[string][][2]int32{
		"twice": {{0, 1}, {0, 1}}, "second descending": {{0, 2}, {0, 1}}, "first descending": {{1, 1}, {0, 3}}, "turned round": {{1, 0}},
		"beyond": {{0, 4}}, "negative": {{-1, 0}}, "no loop": {{0, 0}, {0, 1}, {2, 2}, {3, 3}},
	} {
		p := relations.NewPairs(2)
		var err error
		for _, pair := range pairs {
			if err == nil {
				err = p.Add(pair[0], pair[1])
			}
		}
		if err == nil {
			_, err = p.Graph()
		}
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// FuzzReader reads edges of random bytes, three an edge: those that are accepted are the edges of the relation graph that they give.
func FuzzReader(f *testing.F) {
	encode := func(edges []relations.Edge) (data []byte) {
		for _, e := range edges {
			data = append(data, e.Type, byte(e.Receiver), byte(e.Sender))
		}
		return data
	}
	m := relations.NewMeetings(3)
	for _, leaving := range [][]int32{nil, {0, 3}, {0, 1, 4}} {
		if err := m.Add(leaving); err != nil {
			f.Fatal(err)
		}
		f.Add(encode(slices.Collect(m.Graph().All)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var edges []relations.Edge
		for e := range slices.Chunk(data, 3) {
			if len(e) == 3 {
				edges = append(edges, relations.Edge{Type: e[0], Receiver: int32(int8(e[1])), Sender: int32(int8(e[2]))})
			}
		}
		g, err := readEdges(3, edges)
		if err != nil {
			return
		}
		if diff := cmp.Diff(edges, slices.Collect(g.All)); diff != "" {
			t.Errorf("edges of the graph (-read +got):\n%s", diff)
		}
		if again, err := collectPairs(3, edges); err != nil || !cmp.Equal(g, again, cmp.AllowUnexported(relations.Graph{})) {
			t.Errorf("its pairs give another graph, error %v", err)
		}
	})
}
