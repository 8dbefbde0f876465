package spec

import (
	"cmp"
	"math"
	"slices"
)

// sent is an edge with both of its ends.
type sent struct{ sender, relation, receiver int32 }

// byPriority returns the activity of layer t of A*Net, and its counts. The edges are the ones that
// priorities select and that, with a window, the window admits. visited is true for the source and for
// the entities updated so far.
func (p *Pass) byPriority(t int, priorities []float64, visited []bool) (activity, Counts) {
	entities := p.model.graph.Entities
	l := activity{active: make([]bool, entities), edges: make([][]edge, entities)}
	counts := Counts{}
	chosen := p.selectedEdges(priorities, visited)
	counts.AStar = int64(len(chosen))
	for o := range int32(entities) {
		for _, e := range p.inEdges(o) {
			if chosen[sent{e.sender, e.relation, o}] && p.isOpen(t, o) && p.admits(e.sender, o) {
				l.edges[o] = append(l.edges[o], e)
			}
		}
		l.active[o] = len(l.edges[o]) > 0
		counts.Kept += int64(len(l.edges[o]))
		if l.active[o] {
			counts.Active++
		}
	}
	return l, counts
}

// selectedEdges returns A: of the out-edges of the K visited entities of highest priority, the M whose
// receivers have the highest.
func (p *Pass) selectedEdges(priorities []float64, visited []bool) map[sent]bool {
	g := p.model.graph
	nodes, edges := p.budget()
	senders := p.bestVisited(nodes, priorities, visited)
	position := make(map[int32]int)
	var candidates []sent
	for i, u := range senders {
		position[u] = i
		// The inverse of an edge o -r-> u leaves u.
		receivers, relations := g.In(u)
		for j, o := range receivers {
			e := sent{u, g.Inverse(relations[j]), o}
			if !g.Removes(p.Query.Query, e.sender, e.relation, e.receiver) {
				candidates = append(candidates, e)
			}
		}
	}
	slices.SortFunc(candidates, func(a, b sent) int {
		return cmp.Or(
			cmp.Compare(priorities[b.receiver], priorities[a.receiver]),
			cmp.Compare(position[a.sender], position[b.sender]),
			cmp.Compare(a.relation, b.relation),
			cmp.Compare(a.receiver, b.receiver),
		)
	})
	// Ties go by sender, relation and receiver, so that the choice is unique.
	chosen := make(map[sent]bool)
	for _, e := range candidates[:min(edges, len(candidates))] {
		chosen[e] = true
	}
	return chosen
}

// bestVisited returns the n visited entities of highest priority in descending order, ties by smaller id.
func (p *Pass) bestVisited(n int, priorities []float64, visited []bool) []int32 {
	var best []int32
	for o := range int32(len(visited)) {
		if visited[o] {
			best = append(best, o)
		}
	}
	slices.SortStableFunc(best, func(a, b int32) int { return cmp.Compare(priorities[b], priorities[a]) })
	return best[:min(n, len(best))]
}

// budget returns K, the number of entities that send in a layer, and M, the number of edges that they
// send along. Both are of the whole graph.
func (p *Pass) budget() (nodes, edges int) {
	g := p.model.graph
	nodeRatio, degreeRatio := p.model.configuration.Ratios(p.Query.Training)
	nodes = int(math.Floor(nodeRatio * float64(g.Entities)))
	edges = int(math.Floor(degreeRatio * float64(nodes) * float64(g.Edges()) / float64(g.Entities)))
	return nodes, edges
}

// priorityWeight returns the factor of the state of an entity with a priority, and its derivative.
func priorityWeight(priority float64) (share, slope float64) {
	share = sigmoid(priority)
	return share, share * (1 - share)
}
