package statistics

import (
	"fmt"
	"math/bits"

	"tagnet/formats/tables"
)

// Degrees is how many edges enter the entities of some shards of a graph.
type Degrees struct {
	// Graph is training or inference.
	Graph string
	// Edges is the number of edges, Most the largest number of edges of an entity.
	Edges, Most int64
	// ByPower has, at k, the entities with 2^(k-1) to 2^k - 1 edges; at 0 there are none, for a
	// shard knows only entities that have edges.
	ByPower []int64
}

// count adds the edges of a shard, in which the edges of an entity stand together.
func (d *Degrees) count(e tables.Edges) {
	for from := 0; from < len(e.Tails); {
		to := from + 1
		for to < len(e.Tails) && e.Tails[to] == e.Tails[from] {
			to++
		}
		d.entity(int64(to - from))
		from = to
	}
}

// entity adds an entity with so many edges, at least one.
func (d *Degrees) entity(edges int64) {
	power := bits.Len64(uint64(edges))
	for len(d.ByPower) <= power {
		d.ByPower = append(d.ByPower, 0)
	}
	d.ByPower[power]++
	d.Edges += edges
	d.Most = max(d.Most, edges)
}

// plus adds the entities of other shards.
func (d *Degrees) plus(other Degrees) {
	for len(d.ByPower) < len(other.ByPower) {
		d.ByPower = append(d.ByPower, 0)
	}
	for power, n := range other.ByPower {
		d.ByPower[power] += n
	}
	d.Edges += other.Edges
	d.Most = max(d.Most, other.Most)
}

// of is the part of the analysis that the degrees of all of a graph's shards decide. The
// sizes are those of its summary.
func (d Degrees) of(entities, facts, edges int64, meanDegree float64) (Graph, error) {
	g := Graph{Entities: entities, Facts: facts, Edges: edges, MeanDegree: meanDegree, MostEdges: d.Most}
	without := entities
	for _, n := range d.ByPower {
		without -= n
	}
	if d.Edges != edges || without < 0 {
		return g, fmt.Errorf("the %s graph's tables have %d edges that enter %d entities, its summary says %d and %d: preprocess again",
			d.Graph, d.Edges, entities-without, edges, entities)
	}
	g.Degrees = []Degree{{From: 0, To: 0, Entities: without, Share: share(without, entities)}}
	for power := 1; power < len(d.ByPower); power++ {
		n := d.ByPower[power]
		g.Degrees = append(g.Degrees, Degree{From: 1 << (power - 1), To: 1<<power - 1, Entities: n, Share: share(n, entities)})
	}
	return g, nil
}
