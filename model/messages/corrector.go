package messages

import (
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/search"
)

// Corrector corrects the levels of a source for what a training query takes out of its graph,
// without searching or counting anew. A removal moves an entity only if it takes the last edge
// between the source and the answer, and then those alone whose shortest paths all go through
// the answer; only their edges are counted again. No entity moves for two answers of a source, so
// all of its queries together cost at most a few times the edges of the graph, however many
// they are; most often it is far less.
//
// Memory: 13 bytes an entity. It is not for concurrent use: each worker has its own, and
// corrects without allocating.
type Corrector struct {
	graph  *graph.Graph
	gates  gates
	source int32
	hops   int
	whole  Levels
	// before are the distances in the whole graph. after is a copy of them, but for those that
	// are moved right now, if the gates of the source are known.
	before, after []uint8
	known         bool
	tally         tally
}

// NewCorrector returns a corrector of counts over g.
func NewCorrector(g *graph.Graph) *Corrector {
	return &Corrector{graph: g, gates: newGates(g), after: make([]uint8, g.Entities)}
}

// Of makes source the one whose levels are corrected: distances are those of a search in the whole
// graph, hops (1 to configuration.MaxLayers) those of CountLevels, and whole what it returned.
// The distances are read until the next call.
func (c *Corrector) Of(source int32, distances []uint8, hops int, whole Levels) {
	c.source, c.before, c.hops, c.whole = source, distances, min(hops, configuration.MaxLayers), whole
	c.known = false
}

// Without is the levels of the source in the graph without what a removal takes away; the
// removal's source is the one of the last call of Of.
func (c *Corrector) Without(removal graph.Removal) Levels {
	removed, left := c.graph.Between(removal)
	l := c.whole
	switch {
	case removed == 0:
	case removal.Source == removal.Answer:
		l.Edges -= removed
		l.Within[0] -= removed
	case left > 0: // another edge still joins the two
		l.Edges -= 2 * removed // each with its reciprocal
		l.Between[1] -= removed
	case int64(c.graph.Degree(c.source)) == removed+l.Within[0]: // nothing leads away from the source now
		l = Levels{Edges: l.Edges - 2*removed}
		l.Within[0] = c.whole.Within[0]
	default:
		l.Edges -= 2 * removed
		c.correct(&l, removal.Answer)
	}
	return l
}

// correct moves the entities whose gate is no neighbour of the source any more.
func (c *Corrector) correct(l *Levels, gate int32) {
	if !c.known {
		c.gates.find(c.source, c.before, c.hops)
		copy(c.after, c.before)
		c.known = true
	}
	c.move(gate)
	for o := gate; o != noPath; o = c.gates.link[o] {
		senders, _ := c.graph.In(o)
		c.tally.count(senders, o, c.before, c.after)
	}
	c.tally.apply(l, c.hops)
	for o := gate; o != noPath; o = c.gates.link[o] {
		c.after[o] = c.before[o]
	}
}

// move sets the new distances of a gate's entities: first from the neighbours that stay where
// they are, then from one another, nearest first.
func (c *Corrector) move(gate int32) {
	for o := gate; o != noPath; o = c.gates.link[o] {
		c.after[o] = search.Unreached
	}
	for o := gate; o != noPath; o = c.gates.link[o] {
		c.after[o] = c.beside(o)
	}
	for distance, more := 2, true; more && distance < c.hops; distance++ {
		more = c.relax(gate, uint8(distance))
	}
}

// beside is the new distance of an entity by way of neighbours that do not move. None of them
// was nearer to the source than the entity but the source itself, whose edges to the gate are gone.
func (c *Corrector) beside(o int32) uint8 {
	level, nearest := c.before[o], uint8(search.Unreached)
	senders, _ := c.graph.In(o)
	for _, u := range senders {
		if distance := c.before[u]; distance >= level && distance < nearest && distance == c.after[u] {
			nearest = distance
			if distance == level { // nearer there is none
				break
			}
		}
	}
	return c.next(nearest)
}

// next is the distance of who is reached from a distance.
func (c *Corrector) next(distance uint8) uint8 {
	if int(distance) >= c.hops {
		return search.Unreached
	}
	return distance + 1
}

// relax takes a gate's entities that come to lie at a distance to those of their neighbours that
// are farther than one more. It is false when none was so far.
func (c *Corrector) relax(gate int32, distance uint8) (more bool) {
	for o := gate; o != noPath; o = c.gates.link[o] {
		if c.after[o] > distance+1 {
			more = true
		}
		if c.after[o] != distance {
			continue
		}
		neighbours, _ := c.graph.In(o)
		for _, u := range neighbours {
			if c.after[u] > distance+1 && c.after[u] != c.before[u] {
				c.after[u] = distance + 1
			}
		}
	}
	return more
}
