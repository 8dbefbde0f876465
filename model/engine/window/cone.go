package window

import (
	"tagnet/formats/hop"
	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// cone is the set of states that the final states of some candidates depend on, found in the graph
// instead of a layout; needed.go says how.
type cone struct {
	graph     *graph.Graph
	searcher  *graph.Searcher
	distances []uint8   // of the entities nearer than hops, and of candidates at hops; by entity
	ages      []uint8   // number of needed states, by entity
	levels    [][]int32 // the entities that have any, by distance
	layers    [][]int32 // entities by the layer of their newest needed state; some have got a newer one since
}

func newCone(g *graph.Graph) *cone {
	return &cone{graph: g, searcher: graph.NewSearcher(g), distances: make([]uint8, g.Entities), ages: make([]uint8, g.Entities)}
}

// find searches from a query's source and finds the cone of candidates.
func (c *cone) find(q graph.Query, hops, delta int, candidates []int32) {
	c.start(hops)
	// Of the entities at the last distance only candidates have needed states.
	c.searcher.Search(q.Source, hops-1, q, c.distances)
	for _, o := range candidates {
		if c.distances[o] == hop.Unreached && c.adjoins(o, hops-1, q) {
			c.distances[o] = uint8(hops)
		}
	}
	for _, o := range candidates {
		if distance := int(c.distances[o]); distance <= hops {
			c.need(o, distance, min(delta, hops-distance))
		}
	}
	for layer := hops; layer > 0; layer-- {
		for _, o := range c.layers[layer] {
			if distance, age := int(c.distances[o]), int(c.ages[o])-1; distance+age == layer {
				c.needSenders(o, distance, age, q)
			}
		}
	}
}

// start empties the cone.
func (c *cone) start(hops int) {
	for _, entities := range c.levels {
		for _, o := range entities {
			c.ages[o] = 0
		}
	}
	c.levels, c.layers = parallel.Extend(c.levels, hops+1), parallel.Extend(c.layers, hops+1)
	for i := range c.levels {
		c.levels[i], c.layers[i] = c.levels[i][:0], c.layers[i][:0]
	}
}

// adjoins reports whether an entity has an edge from an entity at a distance.
func (c *cone) adjoins(o int32, distance int, q graph.Query) bool {
	senders, relations := c.graph.In(o)
	for i, u := range senders {
		if int(c.distances[u]) == distance && !c.graph.Removes(q, u, relations[i], o) {
			return true
		}
	}
	return false
}

// hasNeighbor reports whether an entity has an edge from another.
func (c *cone) hasNeighbor(o int32, q graph.Query) bool {
	senders, relations := c.graph.In(o)
	for i, u := range senders {
		if u != o && !c.graph.Removes(q, u, relations[i], o) {
			return true
		}
	}
	return false
}

// need adds an entity's states up to an age.
func (c *cone) need(o int32, distance, age int) {
	if int(c.ages[o]) > age {
		return
	}
	if c.ages[o] == 0 {
		c.levels[distance] = append(c.levels[distance], o)
	}
	c.ages[o] = uint8(age + 1)
	c.layers[distance+age] = append(c.layers[distance+age], o)
}

// needSenders adds the senders' states that an entity's state of an age depends on.
func (c *cone) needSenders(o int32, distance, age int, q graph.Query) {
	senders, relations := c.graph.In(o)
	touched := q.Touches(o)
	for i, u := range senders {
		if touched && c.graph.Removes(q, u, relations[i], o) {
			continue
		}
		// Where age is 2 or more, the search has reached the children too.
		switch from := int(c.distances[u]); {
		case from < distance:
			c.need(u, from, age)
		case from == distance && age >= 1:
			c.need(u, from, age-1)
		case from > distance && age >= 2:
			c.need(u, from, age-2)
		}
	}
}

// fillCone fills the layout with the rows that candidates depend on, and no others.
func (l *Layout) fillCone(q graph.Query, hops, delta int, table int32, candidates []int32) {
	if l.cone == nil {
		l.cone = newCone(l.graph)
	}
	l.cone.find(q, hops, delta, candidates)
	l.fill(q, hops, delta, table, l.cone.levels)
	l.SourceChildren = delta >= 2 && l.cone.hasNeighbor(q.Source, q)
	l.Needed = parallel.Resize(l.Needed, l.Count())
	for row, o := range l.Entities {
		l.Needed[row] = l.cone.ages[o]
	}
}
