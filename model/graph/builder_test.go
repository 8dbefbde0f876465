package graph

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// edge is an edge of a graph.
type edge struct{ sender, relation, receiver int32 }

func edgesOf(g *Graph) []edge {
	var all []edge
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i := range senders {
			all = append(all, edge{senders[i], relations[i], o})
		}
	}
	return all
}

func built(entities, relations int, edges []edge) (*Graph, error) {
	b := NewBuilder(entities, relations, int64(len(edges)))
	for _, e := range edges {
		if err := b.Add(e.sender, e.relation, e.receiver); err != nil {
			return nil, err
		}
	}
	return b.Graph()
}

// TestBuilderMakesTheSameGraph compares with New over the same facts, with loops and entities without edges.
func TestBuilderMakesTheSameGraph(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		entities, relations := 1+random.IntN(12), 1+random.IntN(3)
		facts := make([]Fact, random.IntN(40))
		for i := range facts {
			facts[i] = Fact{int32(random.IntN(entities)), int32(random.IntN(relations)), int32(random.IntN(entities))}
		}
		want, err := New(entities, relations, facts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := built(entities, relations, edgesOf(want))
		if err != nil {
			t.Fatal(err)
		}
		if len(facts) > 0 && !reflect.DeepEqual(got, want) || got.MeanLogDegree != want.MeanLogDegree {
			t.Errorf("seed %d: %+v, want %+v", seed, got, want)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edges []edge
		want  string
	}{
		"a receiver beyond":   {[]edge{{0, 0, 3}}, "entity"},
		"a negative sender":   {[]edge{{-1, 0, 0}}, "entity"},
		"a relation beyond":   {[]edge{{0, 2, 1}}, "relation"},
		"receivers unordered": {[]edge{{0, 0, 1}, {1, 1, 0}}, "out of order"},
		"senders unordered":   {[]edge{{2, 0, 1}, {0, 0, 1}}, "out of order"},
		"an edge twice":       {[]edge{{1, 1, 0}, {1, 1, 0}}, "repeated"},
		"no inverse":          {[]edge{{0, 0, 1}}, "inverse"},
		"another's inverse":   {[]edge{{2, 1, 0}, {0, 0, 1}}, "inverse"},
	} {
		if _, err := built(3, 1, test.edges); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
