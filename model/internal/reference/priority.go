package reference

import (
	"cmp"
	"math"
	"slices"
)

// sent is one edge with both its ends.
type sent struct{ sender, relation, receiver int32 }

// choose decides who listens to whom in a layer of A*Net: those who receive along one of the
// edges A that priorities choose, and that, with a window, the window admits in layer t.
// visited tells who has been updated so far, or is the source.
func (p *Pass) choose(t int, priorities []float64, visited []bool) (listening, Counts) {
	entities := p.model.graph.Entities
	l := listening{active: make([]bool, entities), edges: make([][]edge, entities)}
	counts := Counts{}
	chosen := p.chosenEdges(priorities, visited)
	counts.AStar = int64(len(chosen))
	for o := range int32(entities) {
		for _, e := range p.inEdges(o) {
			if chosen[sent{e.sender, e.relation, o}] && p.awake(t, o) && p.admits(e.sender, o) {
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

// chosenEdges is A: of the out-edges of the K best visited entities, the M whose receivers
// are best.
func (p *Pass) chosenEdges(priorities []float64, visited []bool) map[sent]bool {
	g := p.model.graph
	nodes, edges := p.budget()
	senders := p.bestVisited(nodes, priorities, visited)
	place := make(map[int32]int)
	var candidates []sent
	for i, u := range senders {
		place[u] = i
		// An edge o -r-> u that enters u has its reciprocal u -> o leaving it.
		receivers, relations := g.In(u)
		for j, o := range receivers {
			e := sent{u, g.Inverse(relations[j]), o}
			if !p.Query.Removal.Removes(e.sender, e.relation, e.receiver) {
				candidates = append(candidates, e)
			}
		}
	}
	slices.SortFunc(candidates, func(a, b sent) int {
		return cmp.Or(
			cmp.Compare(priorities[b.receiver], priorities[a.receiver]),
			cmp.Compare(place[a.sender], place[b.sender]),
			cmp.Compare(a.relation, b.relation),
			cmp.Compare(a.receiver, b.receiver),
		)
	})
	chosen := make(map[sent]bool)
	for _, e := range candidates[:min(edges, len(candidates))] {
		chosen[e] = true
	}
	return chosen
}

// bestVisited are the n visited entities of highest priority, best first; of equal ones the
// smaller id comes first.
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

// budget is K, the number of entities that may send in a layer, and M, the number of edges
// along which they do. Both follow from the whole graph.
func (p *Pass) budget() (nodes, edges int) {
	g := p.model.graph
	nodeRatio, degreeRatio := p.model.configuration.Ratios(p.Query.Training)
	nodes = int(math.Floor(nodeRatio * float64(g.Entities)))
	edges = int(math.Floor(degreeRatio * float64(nodes) * float64(g.Edges()) / float64(g.Entities)))
	return nodes, edges
}

// gate is what an entity of a priority shows of its state, and slope its derivative by the
// priority.
func gate(priority float64) (share, slope float64) {
	share = sigmoid(priority)
	return share, share * (1 - share)
}
