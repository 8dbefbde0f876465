package study

import (
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// Corrector computes the levels of a source in the graph of a training query from those in the whole
// graph, without a search. The package documentation has an example. An entity moves only if the
// removal takes the last edge between source and answer, and if the answer dominates it; only the
// edges of such entities are counted again. All queries of a source together cost at most a few times
// the edges of the graph, and usually far less.
//
// Memory: 13 bytes an entity, and lists of the entities that move for one query, about 8 bytes each. A Corrector is not
// for concurrent use: each worker has its own. It allocates only while these lists grow.
type Corrector struct {
	graph      *graph.Graph
	dominators dominators
	source     int32
	hops       int
	whole      Levels
	distances  []uint8    // in the whole graph
	movements  []movement // of every entity; between calls none moves
	ready      bool       // movements and dominators belong to the source
	dominated  []int32    // the entities that move
	// arrivals are the entities that move to each distance. An entity may be in several lists; the nearest counts.
	arrivals [configuration.MaxLayers + 1][]int32
	tally    tally
}

// NewCorrector returns a corrector of levels over g.
func NewCorrector(g *graph.Graph) *Corrector {
	return &Corrector{graph: g, dominators: newDominators(g), movements: make([]movement, g.Entities)}
}

// Reset sets the source whose levels are corrected. distances come from a search in the whole graph
// up to hops (1 to configuration.MaxLayers), and whole is what CountLevels returns for them. The
// distances are read until the next call.
func (c *Corrector) Reset(source int32, distances []uint8, hops int, whole Levels) {
	c.source, c.distances, c.hops, c.whole = source, distances, min(hops, configuration.MaxLayers), whole
	c.ready = false
}

// Without returns the levels of the source in the graph of a query, whose source must be the last Reset's.
func (c *Corrector) Without(q graph.Query) Levels {
	removed, left := c.graph.Between(q)
	l := c.whole
	switch {
	case removed == 0:
	case q.Source == q.Answer:
		l.Edges -= removed
		l.Within[0] -= removed
	case left > 0: // source and answer are still adjacent
		l.Edges -= 2 * removed // each with its inverse
		l.Between[1] -= removed
	case int64(c.graph.Degree(c.source)) == removed+l.Within[0]: // the source has no other neighbor
		l = Levels{Edges: l.Edges - 2*removed}
		l.Within[0] = c.whole.Within[0]
	default:
		l.Edges -= 2 * removed
		c.move(&l, q.Answer)
	}
	return l
}

// move moves the entities that a neighbor of the source dominates, which is no neighbor any more.
func (c *Corrector) move(l *Levels, dominator int32) {
	if !c.ready {
		c.dominators.find(c.source, c.distances, c.hops)
		for o, distance := range c.distances {
			c.movements[o] = stay(distance)
		}
		c.ready = true
	}
	c.dominated = c.dominated[:0]
	for o := dominator; o != none; o = c.dominators.next[o] {
		c.dominated = append(c.dominated, o)
		c.movements[o] = c.movements[o].to(unreached)
	}
	c.leave()
	c.arrive()
	c.tally.apply(l, c.hops)
	for _, o := range c.dominated {
		c.movements[o] = stay(c.distances[o])
	}
}

// leave subtracts the edges of the dominated entities from their levels, and moves each next to its
// nearest neighbor that stays. Such a neighbor is on the entity's old level or on the next: only
// the source was nearer, and the edges to it are removed.
func (c *Corrector) leave() {
	for _, o := range c.dominated {
		level := c.movements[o].before()
		nearest := unreached
		for rest, _ := c.graph.In(o); len(rest) > 0; {
			block := rest[:min(maxCounted, len(rest))]
			rest = rest[len(block):]
			counts := edgeCounts(0)
			for _, u := range block {
				counts += leaving[level][c.movements[u]]
			}
			nearest = min(nearest, counts.nearest(level))
			c.tally.subtract(level, counts)
		}
		c.moveTo(o, nearest+1)
	}
}

// moveTo moves an entity to a distance, if that is within the hops.
func (c *Corrector) moveTo(o int32, distance int) {
	if distance <= c.hops {
		c.movements[o] = c.movements[o].to(distance)
		c.arrivals[distance] = append(c.arrivals[distance], o)
	}
}

// arrive adds the edges of the entities that moved to their new levels, nearest first: they pull
// their neighbors after them. An edge between two of them is added by the one that arrives later, or,
// if both arrive together, half by each.
func (c *Corrector) arrive() {
	for distance := 2; distance <= c.hops; distance++ {
		for _, o := range c.arrivals[distance] {
			if c.movements[o].after() != distance { // it arrived nearer
				continue
			}
			for rest, _ := c.graph.In(o); len(rest) > 0; {
				block := rest[:min(maxCounted, len(rest))]
				rest = rest[len(block):]
				counts := edgeCounts(0)
				for _, u := range block {
					counts += arriving[distance][c.movements[u]]
				}
				c.tally.add(distance, counts)
				if distance < c.hops && counts.farther() {
					c.pull(block, distance+1)
				}
			}
		}
		c.arrivals[distance] = c.arrivals[distance][:0]
	}
}

// pull moves neighbors that moved farther than a distance to that distance.
func (c *Corrector) pull(neighbors []int32, distance int) {
	for _, u := range neighbors {
		if m := c.movements[u]; m.moves() && m.after() > distance {
			c.moveTo(u, distance)
		}
	}
}
