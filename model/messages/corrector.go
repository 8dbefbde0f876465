package messages

import (
	"tagnet/model/configuration"
	"tagnet/model/graph"
)

// Corrector corrects the levels of a source for what a training query takes out of its graph,
// without searching or counting anew. A removal moves an entity only if it takes the last edge
// between the source and the answer, and then those alone whose shortest paths all go through
// the answer; only their edges are counted again. No entity moves for two answers of a source, so
// all of its queries together cost at most a few times the edges of the graph, however many
// they are; most often it is far less.
//
// Memory: 13 bytes an entity, and lists of those that move for one query, about 8 bytes each. It is
// not for concurrent use: each worker has its own, and allocates only while these lists still grow.
type Corrector struct {
	graph  *graph.Graph
	gates  gates
	source int32
	hops   int
	whole  Levels
	before []uint8 // the distances in the whole graph
	places []place // the same, but for those that are moved right now
	known  bool    // places and the gates are those of the source
	moved  []int32 // the entities of a gate
	// placed are, by new distance, those that moved; who was given another since counts there.
	placed [configuration.MaxLayers + 1][]int32
	tally  tally
}

// NewCorrector returns a corrector of counts over g.
func NewCorrector(g *graph.Graph) *Corrector {
	return &Corrector{graph: g, gates: newGates(g), places: make([]place, g.Entities)}
}

// Of makes source the one whose levels are corrected: distances are those of a search in the whole
// graph, hops (1 to configuration.MaxLayers) those of the search and of CountLevels, and whole what that
// returned. The distances are read until the next call.
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
		for o, distance := range c.before {
			c.places[o] = stay(distance)
		}
		c.known = true
	}
	c.moved = c.moved[:0]
	for o := gate; o != noPath; o = c.gates.link[o] {
		c.moved = append(c.moved, o)
		c.places[o] = c.places[o].at(unreached)
	}
	c.leave()
	c.arrive()
	c.tally.apply(l, c.hops)
	for _, o := range c.moved {
		c.places[o] = stay(c.before[o])
	}
}

// leave takes the edges of those that move from their levels, and places each where it is by way of
// neighbours that stay: these are on its old level or the next. Only the source is nearer, and
// its edges are gone.
func (c *Corrector) leave() {
	for _, o := range c.moved {
		level := c.places[o].before()
		senders, _ := c.graph.In(o)
		nearest := unreached
		for rest := senders; len(rest) > 0; {
			part := rest[:min(chunk, len(rest))]
			rest = rest[len(part):]
			seen := around(0)
			for _, u := range part {
				seen += leaving[level][c.places[u]]
			}
			nearest = min(nearest, seen.nearest(level))
			c.tally.take(level, seen)
		}
		c.put(o, nearest+1)
	}
}

// put notes a new distance, if it is one of the hops.
func (c *Corrector) put(o int32, distance int) {
	if distance <= c.hops {
		c.places[o] = c.places[o].at(distance)
		c.placed[distance] = append(c.placed[distance], o)
	}
}

// arrive adds the edges of those that moved to their new levels, nearest first, so that they serve
// one another: an edge between two of them is added by the one that arrives later, or by both,
// a half each, if that is together.
func (c *Corrector) arrive() {
	for distance := 2; distance <= c.hops; distance++ {
		for _, o := range c.placed[distance] {
			if c.places[o].after() != distance { // it arrived before
				continue
			}
			neighbours, _ := c.graph.In(o)
			for rest := neighbours; len(rest) > 0; {
				part := rest[:min(chunk, len(rest))]
				rest = rest[len(part):]
				seen := around(0)
				for _, u := range part {
					seen += arriving[distance][c.places[u]]
				}
				c.tally.give(distance, seen)
				if distance < c.hops && seen.farther() {
					c.pull(part, distance+1)
				}
			}
		}
		c.placed[distance] = c.placed[distance][:0]
	}
}

// pull puts those of some neighbours that moved farther to a distance.
func (c *Corrector) pull(neighbours []int32, distance int) {
	for _, u := range neighbours {
		if p := c.places[u]; p.moves() && p.after() > distance {
			c.put(u, distance)
		}
	}
}
