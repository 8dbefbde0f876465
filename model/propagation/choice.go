package propagation

import (
	"cmp"
	"slices"
)

// choice picks the senders and edges of a layer of A*Net. It keeps its buffers.
type choice struct {
	rank  []int32 // of each entity by degree, then id
	order []int32 // visited entities on their way to the senders
	edges []chosenEdge
	count []int32 // kept edges that enter each entity, zero between calls
}

// chosenEdge is an out-edge of the sender at place, in the order of the senders.
type chosenEdge struct {
	priority        float32 // of the head
	place, relation int32
	head            int32
}

// newChoice is for a graph whose entities stand in byDegree.
func newChoice(byDegree []int32) choice {
	c := choice{rank: make([]int32, len(byDegree)), count: make([]int32, len(byDegree))}
	for i, o := range byDegree {
		c.rank[o] = int32(i)
	}
	return c
}

// choose fills in a layer's senders, edges and receivers: of the visited entities the K of
// highest priority, of the edges that leave them the M whose heads have the highest, and of
// those the ones that the window admits too.
func (a *astar) choose(t int, layer *astarLayer) {
	p := a.propagator
	nodeRatio, degreeRatio := p.configuration.Ratios(p.query.Training)
	entities := float64(p.graph.Entities)
	senders := int(nodeRatio * entities)
	edges := int(degreeRatio * float64(senders) * float64(p.graph.Edges()) / entities)
	a.chooseSenders(senders)
	a.chooseEdges(edges)
	layer.count = LayerCount{AStar: int64(len(a.choice.edges))}
	if p.configuration.Windowed() {
		a.admit(t + 1)
	}
	layer.count.Kept = int64(len(a.choice.edges))
	layer.senders = layer.senders[:0]
	for _, o := range a.choice.order {
		layer.senders = append(layer.senders, a.current[o])
	}
	a.group(layer)
	layer.count.Active = int64(len(layer.entities))
}

// chooseSenders leaves the count visited entities of highest priority in order; of equal
// ones the smaller id goes first.
func (a *astar) chooseSenders(count int) {
	c := &a.choice
	c.order = append(c.order[:0], a.visited...)
	slices.SortFunc(c.order, func(u, v int32) int {
		if order := cmp.Compare(a.priorities[a.current[v]], a.priorities[a.current[u]]); order != 0 {
			return order
		}
		return cmp.Compare(u, v)
	})
	c.order = c.order[:min(count, len(c.order))]
}

// chooseEdges leaves the count edges whose heads have the highest priority; of equal ones the
// earlier sender's goes first, then the smaller relation, then the smaller head.
func (a *astar) chooseEdges(count int) {
	c, p := &a.choice, a.propagator
	c.edges = c.edges[:0]
	for place, u := range c.order {
		neighbours, relations := p.graph.In(u)
		touched := p.query.Removal.Touches(u)
		for i, o := range neighbours {
			if touched && p.query.Removal.Removes(o, relations[i], u) {
				continue
			}
			c.edges = append(c.edges, chosenEdge{a.priorities[a.current[o]], int32(place), p.graph.Inverse(relations[i]), o})
		}
	}
	if len(c.edges) <= count {
		return
	}
	slices.SortFunc(c.edges, func(x, y chosenEdge) int {
		if order := cmp.Compare(y.priority, x.priority); order != 0 {
			return order
		}
		return cmp.Or(cmp.Compare(x.place, y.place), cmp.Compare(x.relation, y.relation), cmp.Compare(x.head, y.head))
	})
	c.edges = c.edges[:count]
}

// admit leaves the edges that a window admits in layer t.
func (a *astar) admit(t int) {
	distances, delta := a.propagator.searched(), a.propagator.configuration.Delta
	layers := a.propagator.configuration.Layers
	kept := a.choice.edges[:0]
	for _, e := range a.choice.edges {
		head, sender := int(distances[e.head]), int(distances[a.choice.order[e.place]])
		if head <= layers && sender <= layers && t-delta <= head && head <= t && sender < head+delta {
			kept = append(kept, e)
		}
	}
	a.choice.edges = kept
}

// group lists the receivers of the chosen edges by degree, with the edges of each together.
func (a *astar) group(layer *astarLayer) {
	c, p := &a.choice, a.propagator
	layer.entities = layer.entities[:0]
	for _, e := range c.edges {
		if c.count[e.head] == 0 {
			layer.entities = append(layer.entities, e.head)
		}
		c.count[e.head]++
	}
	slices.SortFunc(layer.entities, func(u, v int32) int { return cmp.Compare(c.rank[u], c.rank[v]) })
	heard := &layer.heard
	heard.Bounds, layer.degrees = heard.Bounds[:0], layer.degrees[:0]
	next := int32(0)
	for _, o := range layer.entities {
		end := next + c.count[o]
		heard.Bounds = append(heard.Bounds, next, end, end)
		layer.degrees = append(layer.degrees, int32(p.graph.DegreeWithout(o, p.query.Removal)))
		c.count[o], next = next, end // from here on, where the entity's next edge goes
	}
	heard.Bounds = append(heard.Bounds, next)
	heard.Rows, heard.Relations = grow(heard.Rows, int(next)), grow(heard.Relations, int(next))
	for _, e := range c.edges {
		at := c.count[e.head]
		c.count[e.head]++
		heard.Rows[at], heard.Relations[at] = e.place, e.relation
	}
	for _, o := range layer.entities {
		c.count[o] = 0
	}
}
