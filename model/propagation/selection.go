package propagation

import (
	"cmp"
	"slices"

	"tagnet/model/internal/buffer"
)

// selection chooses the senders and edges of a layer of A*Net.
type selection struct {
	rank    []int32 // of each entity by degree, then id
	senders []int32 // visited entities by descending priority
	edges   []selectedEdge
	count   []int32 // of selected edges into each entity; zeros between calls
}

// selectedEdge is an edge that leaves a sender, given by its index in the order of senders.
type selectedEdge struct {
	priority         float32 // of the head
	sender, relation int32
	head             int32
}

// newSelection returns a selection over entities that byDegree lists by ascending degree.
func newSelection(byDegree []int32) selection {
	s := selection{rank: make([]int32, len(byDegree)), count: make([]int32, len(byDegree))}
	for i, o := range byDegree {
		s.rank[o] = int32(i)
	}
	return s
}

// selectEdges sets a layer's senders, edges and receivers. The senders are the K visited entities of
// highest priority; the edges the M that leave them whose heads have the highest, and of these, within
// a window, those that the window admits.
func (a *astar) selectEdges(t int, layer *astarLayer) {
	p := a.propagator
	nodeRatio, degreeRatio := p.configuration.Ratios(p.query.Training)
	entities := float64(p.graph.Entities)
	senders := int(nodeRatio * entities)
	edges := int(degreeRatio * float64(senders) * float64(p.graph.Edges()) / entities)
	a.bestSenders(senders)
	a.bestEdges(edges)
	layer.count = LayerCount{AStar: int64(len(a.selection.edges))}
	if p.configuration.Windowed() {
		a.filterWindow(t + 1)
	}
	layer.count.Kept = int64(len(a.selection.edges))
	layer.senders = layer.senders[:0]
	for _, o := range a.selection.senders {
		layer.senders = append(layer.senders, a.current[o])
	}
	a.groupByReceiver(layer)
	layer.count.Active = int64(len(layer.entities))
}

// bestSenders selects the count visited entities of highest priority, ties by smaller id. The order
// among them breaks ties between edges, so all of them are sorted rather than kept in a heap.
func (a *astar) bestSenders(count int) {
	s := &a.selection
	s.senders = append(s.senders[:0], a.visited...)
	slices.SortFunc(s.senders, func(u, v int32) int {
		if order := cmp.Compare(a.priorities[a.current[v]], a.priorities[a.current[u]]); order != 0 {
			return order
		}
		return cmp.Compare(u, v)
	})
	s.senders = s.senders[:min(count, len(s.senders))]
}

// bestEdges selects the count edges whose heads have the highest priority, ties by earlier sender,
// then smaller relation, then smaller head.
func (a *astar) bestEdges(count int) {
	s, p := &a.selection, a.propagator
	s.edges = s.edges[:0]
	for i, u := range s.senders {
		neighbours, relations := p.graph.In(u)
		touched := p.query.Removal.Touches(u)
		for j, o := range neighbours {
			if touched && p.query.Removal.Removes(o, relations[j], u) {
				continue
			}
			s.edges = append(s.edges, selectedEdge{a.priorities[a.current[o]], int32(i), p.graph.Inverse(relations[j]), o})
		}
	}
	if len(s.edges) <= count {
		return
	}
	slices.SortFunc(s.edges, func(x, y selectedEdge) int {
		if order := cmp.Compare(y.priority, x.priority); order != 0 {
			return order
		}
		return cmp.Or(cmp.Compare(x.sender, y.sender), cmp.Compare(x.relation, y.relation), cmp.Compare(x.head, y.head))
	})
	s.edges = s.edges[:count]
}

// filterWindow drops the edges that the window does not admit in layer t.
func (a *astar) filterWindow(t int) {
	distances, delta := a.propagator.searched(), a.propagator.configuration.Delta
	layers := a.propagator.configuration.Layers
	kept := a.selection.edges[:0]
	for _, e := range a.selection.edges {
		head, sender := int(distances[e.head]), int(distances[a.selection.senders[e.sender]])
		if head <= layers && sender <= layers && t-delta <= head && head <= t && sender < head+delta {
			kept = append(kept, e)
		}
	}
	a.selection.edges = kept
}

// groupByReceiver lists the receivers of the selected edges by degree, and the edges by receiver.
func (a *astar) groupByReceiver(layer *astarLayer) {
	s, p := &a.selection, a.propagator
	layer.entities = layer.entities[:0]
	for _, e := range s.edges {
		if s.count[e.head] == 0 {
			layer.entities = append(layer.entities, e.head)
		}
		s.count[e.head]++
	}
	slices.SortFunc(layer.entities, func(u, v int32) int { return cmp.Compare(s.rank[u], s.rank[v]) })
	edges := &layer.edges
	edges.Offsets, layer.degrees = edges.Offsets[:0], layer.degrees[:0]
	next := int32(0)
	for _, o := range layer.entities {
		end := next + s.count[o]
		edges.Offsets = append(edges.Offsets, next, end, end)
		layer.degrees = append(layer.degrees, int32(p.graph.DegreeWithout(o, p.query.Removal)))
		s.count[o], next = next, end // from here on, the index of the entity's next edge
	}
	edges.Offsets = append(edges.Offsets, next)
	edges.Rows, edges.Relations = buffer.Resize(edges.Rows, int(next)), buffer.Resize(edges.Relations, int(next))
	for _, e := range s.edges {
		i := s.count[e.head]
		s.count[e.head]++
		edges.Rows[i], edges.Relations[i] = e.sender, e.relation
	}
	for _, o := range layer.entities {
		s.count[o] = 0
	}
}
