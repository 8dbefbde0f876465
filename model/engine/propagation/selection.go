package propagation

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"tagnet/model/parallel"
)

// selection chooses the senders and edges of a layer of A*Net.
type selection struct {
	rank     []int32  // of each entity by degree, then id
	entities []int32  // by rank
	key      []uint32 // of each entity's priority, see keyOf
	visited  []uint64 // bits of the visited entities

	keys    []uint64 // of a priority in the upper half, an entity in the lower
	sorted  []uint64 // buffer of sort
	senders []int32  // visited entities by descending priority
	edges   []selectedEdge
	last    []selectedEdge // of the cut's last sender
	count   []int32        // of edges into each entity; zeros between calls
	reached []uint64       // bits of the ranks of the receivers; zeros between calls
}

// selectedEdge is an edge that leaves a sender, given by its index in the order of senders.
type selectedEdge struct{ head, sender, relation int32 }

// cut selects edges of the senders: all edges to heads of a key below the last one, and the first
// edges to heads of this key.
type cut struct {
	key    uint32 // the last key of which edges are selected
	sender int32  // the first sender of which not all edges to heads of this key are selected
}

// keepsAll is the cut that leaves out no edge.
var keepsAll = cut{math.MaxUint32, math.MaxInt32}

// newSelection returns a selection over entities that byDegree lists by ascending degree.
func newSelection(byDegree []int32) selection {
	n, words := len(byDegree), (len(byDegree)+63)/64
	s := selection{rank: make([]int32, n), entities: byDegree, key: make([]uint32, n), count: make([]int32, n), visited: make([]uint64, words),
		reached: make([]uint64, words)}
	for i, o := range byDegree {
		s.rank[o] = int32(i)
	}
	return s
}

// keyOf maps priorities to integers in descending order. Both zeros are the same; a NaN comes last.
func keyOf(priority float32) uint32 {
	switch {
	case priority != priority:
		return math.MaxUint32
	case priority == 0:
		return 1<<31 - 1
	}
	b := math.Float32bits(priority)
	if b>>31 != 0 {
		return b
	}
	return 1<<31 - 1 - b
}

// selectEdges sets a layer's senders, edges and receivers. The senders are the K visited entities of
// highest priority; the edges the M that leave them to heads of highest priority, without edges that
// the window, if any, does not admit.
func (a *astar) selectEdges(t int, layer *astarLayer) {
	p, s := a.runner, &a.selection
	nodeRatio, degreeRatio := p.configuration.Ratios(p.query.Training)
	entities := float64(p.graph.Entities)
	senders := int(nodeRatio * entities)
	most := int(degreeRatio * float64(senders) * float64(p.graph.Edges()) / entities)
	a.bestSenders(senders)
	total := a.countEdges()
	chosen, cuts := keepsAll, total > most
	if cuts {
		chosen = a.cutEdges(most)
	}
	layer.count = LayerCount{AStar: int64(min(total, most))}
	a.listEdges(t+1, chosen, cuts)
	layer.count.Kept = int64(len(s.edges))
	a.groupByReceiver(layer)
	layer.count.Active = int64(len(layer.entities))
}

// bestSenders selects the count visited entities of highest priority, ties by smaller id, in this
// order, which also breaks ties between edges.
func (a *astar) bestSenders(count int) {
	s := &a.selection
	s.keys = s.keys[:0]
	for i, word := range s.visited {
		for ; word != 0; word &= word - 1 {
			o := 64*i + bits.TrailingZeros64(word)
			s.keys = append(s.keys, uint64(s.key[o])<<32|uint64(o))
		}
	}
	s.sort()
	s.senders = s.senders[:0]
	for _, key := range s.keys[:min(count, len(s.keys))] {
		s.senders = append(s.senders, int32(uint32(key)))
	}
}

// sort sorts the keys by their upper halves. Keys with equal upper halves keep the order of their
// lower halves if they had it before; else their order is arbitrary.
func (s *selection) sort() {
	if len(s.keys) < 256 {
		slices.Sort(s.keys)
		return
	}
	s.sorted = parallel.Resize(s.sorted, len(s.keys))
	var counts [4][256]int32
	for _, key := range s.keys {
		counts[0][byte(key>>32)]++
		counts[1][byte(key>>40)]++
		counts[2][byte(key>>48)]++
		counts[3][byte(key>>56)]++
	}
	for pass := range counts {
		shift, next := 32+8*pass, int32(0)
		for i, count := range counts[pass] {
			counts[pass][i], next = next, next+count
		}
		for _, key := range s.keys {
			at := &counts[pass][byte(key>>shift)]
			s.sorted[*at] = key
			*at++
		}
		s.keys, s.sorted = s.sorted, s.keys
	}
}

// countEdges returns the number of edges that leave the senders.
func (a *astar) countEdges() (total int) {
	p := a.runner
	for _, u := range a.selection.senders {
		total += p.graph.DegreeWithout(u, p.query.Query) // as many edges leave an entity as enter it
	}
	return total
}

// cutEdges selects the count edges whose heads have the highest priority, ties by earlier sender, then
// smaller relation, then smaller head. There must be more edges than that. It goes by heads, since all
// edges to one have its priority, and sorts the edges of one sender only.
func (a *astar) cutEdges(count int) cut {
	s := &a.selection
	a.countHeads()
	i, left := 0, count
	for ; left >= s.edgesTo(i); i++ {
		left -= s.edgesTo(i)
	}
	// The head at i has more edges than are left. Entities of its key before it rank as it.
	c := cut{key: uint32(s.keys[i] >> 32)}
	for ; i > 0 && uint32(s.keys[i-1]>>32) == c.key; i-- {
		left += s.edgesTo(i - 1)
	}
	for {
		n := a.countOfKey(c)
		if left < n {
			break
		}
		left -= n
		c.sender++
	}
	a.listLast(c, left)
	for _, key := range s.keys {
		s.count[uint32(key)] = 0
	}
	return c
}

// countHeads counts the edges from the senders to each head, and sorts the heads' keys.
func (a *astar) countHeads() {
	s, g, q := &a.selection, a.runner.graph, a.runner.query.Query
	s.keys = s.keys[:0]
	for _, u := range s.senders {
		heads, inverses := g.In(u)
		touched := q.Touches(u)
		for j, o := range heads {
			if touched && g.Removes(q, o, inverses[j], u) {
				continue
			}
			if s.count[o] == 0 {
				s.keys = append(s.keys, uint64(s.key[o])<<32|uint64(o))
			}
			s.count[o]++
		}
	}
	s.sort()
}

// edgesTo returns the number of edges to the head at an index of the keys.
func (s *selection) edgesTo(i int) int { return int(s.count[uint32(s.keys[i])]) }

// countOfKey returns the number of edges from the cut's sender to heads of the cut's key.
func (a *astar) countOfKey(c cut) (count int) {
	s, g, q := &a.selection, a.runner.graph, a.runner.query.Query
	u := s.senders[c.sender]
	heads, inverses := g.In(u)
	touched := q.Touches(u)
	for j, o := range heads {
		if s.key[o] == c.key && !(touched && g.Removes(q, o, inverses[j], u)) {
			count++
		}
	}
	return count
}

// listLast lists the first count edges from the cut's sender to heads of the cut's key.
func (a *astar) listLast(c cut, count int) {
	s, p := &a.selection, a.runner
	u := s.senders[c.sender]
	heads, inverses := p.graph.In(u)
	s.last = s.last[:0]
	for j, o := range heads {
		if s.key[o] == c.key && !p.graph.Removes(p.query.Query, o, inverses[j], u) {
			s.last = append(s.last, selectedEdge{o, c.sender, p.graph.Inverse(inverses[j])})
		}
	}
	slices.SortFunc(s.last, func(x, y selectedEdge) int {
		return cmp.Or(cmp.Compare(x.relation, y.relation), cmp.Compare(x.head, y.head))
	})
	s.last = s.last[:count]
}

// listEdges lists the edges that a cut selects, by sender, if the window admits them in layer t and
// their heads are receivers, and counts them by head. Edges between the same two entities are
// ordered by relation if ordered, else as in the graph.
func (a *astar) listEdges(t int, c cut, ordered bool) {
	s, p := &a.selection, a.runner
	admits := a.admission(t)
	s.edges = s.edges[:0]
	for i, u := range s.senders {
		first, sender := len(s.edges), int32(i)
		heads, inverses := p.graph.In(u)
		touched := p.query.Touches(u)
		highest := c.key // of a head to which the sender's edges are selected
		if sender >= c.sender {
			highest--
		}
		// Edges to heads above the cut, all of them.
		for j, o := range heads {
			if s.key[o] > highest || !admits.edge(u, o) || a.receivers != nil && !a.receivers[o] ||
				touched && p.graph.Removes(p.query.Query, o, inverses[j], u) {
				continue
			}
			s.edges = append(s.edges, selectedEdge{o, sender, p.graph.Inverse(inverses[j])})
			s.count[o]++
		}
		// The cut goes through the edges of one sender to heads of the last priority.
		if sender == c.sender {
			for _, e := range s.last {
				if admits.edge(u, e.head) && (a.receivers == nil || a.receivers[e.head]) {
					s.edges = append(s.edges, e)
					s.count[e.head]++
				}
			}
		}
		if ordered {
			orderParallel(s.edges[first:])
		}
	}
}

// orderParallel sorts each run of edges to one head by relation.
func orderParallel(edges []selectedEdge) {
	for i := 1; i < len(edges); i++ {
		for j := i; j > 0 && edges[j-1].head == edges[j].head && edges[j-1].relation > edges[j].relation; j-- {
			edges[j-1], edges[j] = edges[j], edges[j-1]
		}
	}
}

// admission decides which edges a window admits in a layer.
type admission struct {
	distances                []uint8 // nil admits all
	nearest, farthest, delta int     // nearest and farthest receiver
	layers                   int
}

func (a *astar) admission(t int) admission {
	c := a.runner.configuration
	if !c.Windowed() {
		return admission{}
	}
	return admission{a.runner.searched(), t - c.Delta, min(t, c.Layers), c.Delta, c.Layers}
}

func (x *admission) edge(sender, head int32) bool {
	if x.distances == nil {
		return true
	}
	of, from := int(x.distances[head]), int(x.distances[sender])
	return x.nearest <= of && of <= x.farthest && from <= x.layers && from < of+x.delta
}

// groupByReceiver lists the receivers of the selected edges by degree, and the edges by receiver.
func (a *astar) groupByReceiver(layer *astarLayer) {
	s, p := &a.selection, a.runner
	// Mark the receivers by rank of degree, which sorts them.
	for _, e := range s.edges {
		rank := s.rank[e.head]
		s.reached[rank/64] |= 1 << (rank % 64)
	}
	layer.entities = layer.entities[:0]
	edges := &layer.edges
	edges.Offsets, layer.degrees = edges.Offsets[:0], layer.degrees[:0]
	next := int32(0)
	for i, word := range s.reached {
		s.reached[i] = 0
		for ; word != 0; word &= word - 1 {
			o := s.entities[64*i+bits.TrailingZeros64(word)]
			end := next + s.count[o]
			layer.entities = append(layer.entities, o)
			edges.Offsets = append(edges.Offsets, next, end, end)
			layer.degrees = append(layer.degrees, int32(p.graph.DegreeWithout(o, p.query.Query)))
			s.count[o], next = next, end // from here on, the index of the entity's next edge
		}
	}
	edges.Offsets = append(edges.Offsets, next)
	// Put each edge into its receiver's range.
	edges.Rows, edges.Relations = parallel.Resize(edges.Rows, int(next)), parallel.Resize(edges.Relations, int(next))
	for _, e := range s.edges {
		i := s.count[e.head]
		s.count[e.head]++
		edges.Rows[i], edges.Relations[i] = a.current[s.senders[e.sender]], e.relation
	}
	for _, o := range layer.entities {
		s.count[o] = 0
	}
}

// start marks all entities as not visited, with the key of a priority.
func (s *selection) start(priority float32) {
	key := keyOf(priority)
	for o := range s.key {
		s.key[o] = key
	}
	clear(s.visited)
}

// visit notes the new priority of an entity that a layer updates.
func (s *selection) visit(o int32, priority float32) {
	s.key[o] = keyOf(priority)
	s.visited[o/64] |= 1 << (o % 64)
}
