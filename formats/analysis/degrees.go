package analysis

import (
	"math/bits"

	"tagnet/formats/counts"
	"tagnet/formats/remedy"
	"tagnet/formats/tables"
)

// Degrees counts the edges that enter the entities of some shards of a graph.
type Degrees struct {
	// Graph is Training or Inference.
	Graph string
	// Edges is the number of edges, Most the largest number of edges of an entity.
	Edges, Most int64
	// ByPower[k] is the number of entities with 2^(k-1) to 2^k - 1 edges. ByPower[0] is 0, because
	// shards do not have the entities without edges.
	ByPower []int64
}

// Count adds the edges of a shard, which are sorted by the entity that they enter.
func (d *Degrees) Count(e tables.Edges) {
	for from := 0; from < len(e.Tails); {
		to := from + 1
		for to < len(e.Tails) && e.Tails[to] == e.Tails[from] {
			to++
		}
		d.entity(int64(to - from))
		from = to
	}
}

// entity adds an entity with a number of edges, at least one.
func (d *Degrees) entity(edges int64) {
	power := bits.Len64(uint64(edges))
	for len(d.ByPower) <= power {
		d.ByPower = append(d.ByPower, 0)
	}
	d.ByPower[power]++
	d.Edges += edges
	d.Most = max(d.Most, edges)
}

// Plus adds the entities of other shards.
func (d *Degrees) Plus(other Degrees) {
	for len(d.ByPower) < len(other.ByPower) {
		d.ByPower = append(d.ByPower, 0)
	}
	for power, n := range other.ByPower {
		d.ByPower[power] += n
	}
	d.Edges += other.Edges
	d.Most = max(d.Most, other.Most)
}

// of returns the analysis of a graph, given the degrees of all of its shards and its sizes in the
// summary. It returns an error if they disagree.
func (d Degrees) of(size counts.Graph) (Graph, error) {
	g := Graph{Entities: size.Entities, Facts: size.Facts, Edges: size.Edges, MeanDegree: size.MeanDegree, MostEdges: d.Most}
	without := g.Entities
	for _, n := range d.ByPower {
		without -= n
	}
	if d.Edges != g.Edges || without < 0 {
		return g, remedy.Errorf("run preprocess --force", "the %s graph's tables have %d edges that enter %d entities, its summary has %d edges and %d entities",
			d.Graph, d.Edges, g.Entities-without, g.Edges, g.Entities)
	}
	g.Degrees = []Degree{{From: 0, To: 0, Entities: without, Share: Share(without, g.Entities)}}
	for power := 1; power < len(d.ByPower); power++ {
		n := d.ByPower[power]
		g.Degrees = append(g.Degrees, Degree{From: 1 << (power - 1), To: 1<<power - 1, Entities: n, Share: Share(n, g.Entities)})
	}
	return g, nil
}
