package window

import (
	"sort"

	"tagnet/model/graph"
)

// Layout is the part of a graph that a search from one source reached, renumbered in the
// order in which the propagation works: positions 0..n-1, level by level, and within a
// level by degree, so that entities whose update shares a matrix stand together.
//
// Every edge has its reciprocal, so the distances of its ends differ by one at most: the
// senders of an entity are parents (one hop nearer), siblings and children. They stand in
// this order, which makes the messages of every layer contiguous.
//
// A Layout is filled anew for each source and keeps its arrays: about 20 bytes per reached
// entity, 8 per edge between reached ones, and 8 per entity of the graph.
type Layout struct {
	// Entities has the entity at each position, [n].
	Entities []int32
	// Levels has the first position of each level, and n after the last, [hops+2].
	Levels []int32
	// Bounds has 4 numbers per position, [4n]: its parents are Bounds[4i] to Bounds[4i+1] in
	// Senders and Relations, its siblings go on to Bounds[4i+2], its children to Bounds[4i+3].
	Bounds []int32
	// Senders are positions, Relations relation ids, one each per edge that is admitted.
	Senders, Relations []int32
	// Degrees are in-degrees in the query's graph, [n]: also of edges that are not admitted.
	Degrees []int32

	position           []int32 // of each entity; right only where it was reached
	byDegree           []int32 // all entities by ascending degree, then id
	siblings, children []edge  // of the entity in hand
	graph              *graph.Graph
}

type edge struct{ sender, relation int32 }

// NewLayout returns an empty layout for sources of g. It orders the entities by degree,
// which layouts for the same graph may share: pass nil, or another layout of g.
func NewLayout(g *graph.Graph, sibling *Layout) *Layout {
	l := &Layout{graph: g, position: make([]int32, g.Entities)}
	if sibling != nil && sibling.graph == g {
		l.byDegree = sibling.byDegree
		return l
	}
	l.byDegree = make([]int32, g.Entities)
	for o := range l.byDegree {
		l.byDegree[o] = int32(o)
	}
	sort.SliceStable(l.byDegree, func(i, j int) bool {
		return g.Degree(l.byDegree[i]) < g.Degree(l.byDegree[j])
	})
	return l
}

// Fill lays out what is at most hops away, from distances as search.Searcher gives them
// (larger ones count as unreached). Senders are admitted by delta: parents at 0, siblings
// too from 1 on, children too from 2 on (the edge constraint of the paper's equation 7,
// given that distances differ by one at most).
func (l *Layout) Fill(distances []uint8, hops, delta int, removal graph.Removal) {
	l.order(distances, hops)
	l.resetEdges(len(l.Entities))
	for level := 0; level <= hops; level++ {
		for i := l.Levels[level]; i < l.Levels[level+1]; i++ {
			l.addSenders(i, level, distances, hops, delta, removal)
		}
	}
}

// FillAll lays out the whole graph as one level, by degree; all senders count as parents.
func (l *Layout) FillAll(removal graph.Removal) {
	l.Entities = append(l.Entities[:0], l.byDegree...)
	for i, o := range l.Entities {
		l.position[o] = int32(i)
	}
	l.Levels = append(l.Levels[:0], 0, int32(len(l.Entities)))
	l.resetEdges(len(l.Entities))
	for i, o := range l.Entities {
		start := int32(len(l.Senders))
		senders, relations := l.graph.In(o)
		touched := removal.Touches(o)
		for j, u := range senders {
			if touched && removal.Removes(u, relations[j], o) {
				continue
			}
			l.Senders = append(l.Senders, l.position[u])
			l.Relations = append(l.Relations, relations[j])
		}
		end := int32(len(l.Senders))
		l.Bounds = append(l.Bounds, start, end, end, end)
		l.Degrees[i] = end - start
	}
}

// ByDegree are all entities of the graph by ascending degree, then id, [V]. It is a view.
func (l *Layout) ByDegree() []int32 { return l.byDegree }

// Position is where a reached entity stands.
func (l *Layout) Position(entity int32) int32 { return l.position[entity] }

// Count is the number n of positions.
func (l *Layout) Count() int { return len(l.Entities) }

// order sorts the reached entities by level, then degree, by counting.
func (l *Layout) order(distances []uint8, hops int) {
	var counts [256]int32
	for _, distance := range distances {
		counts[distance]++
	}
	l.Levels = append(l.Levels[:0], 0)
	var next [256]int32
	reached := int32(0)
	for level := 0; level <= hops; level++ {
		next[level] = reached
		reached += counts[level]
		l.Levels = append(l.Levels, reached)
	}
	l.Entities = resize(l.Entities, int(reached))
	for _, o := range l.byDegree {
		distance := distances[o]
		if int(distance) > hops {
			continue
		}
		at := next[distance]
		next[distance]++
		l.Entities[at] = o
		l.position[o] = at
	}
}

func (l *Layout) resetEdges(n int) {
	l.Bounds, l.Senders, l.Relations = l.Bounds[:0], l.Senders[:0], l.Relations[:0]
	l.Degrees = resize(l.Degrees, n)
}

// addSenders parts the senders of the entity at position i.
func (l *Layout) addSenders(i int32, level int, distances []uint8, hops, delta int, removal graph.Removal) {
	o := l.Entities[i]
	senders, relations := l.graph.In(o)
	siblings, children := l.siblings[:0], l.children[:0]
	start := int32(len(l.Senders))
	removed := int32(0)
	touched := removal.Touches(o)
	for j, u := range senders {
		relation := relations[j]
		if touched && removal.Removes(u, relation, o) {
			removed++
			continue
		}
		switch distance := int(distances[u]); {
		case distance < level:
			l.Senders = append(l.Senders, l.position[u])
			l.Relations = append(l.Relations, relation)
		case distance == level:
			siblings = append(siblings, edge{l.position[u], relation})
		case distance <= hops:
			children = append(children, edge{l.position[u], relation})
		}
	}
	parentsEnd := int32(len(l.Senders))
	if delta >= 1 {
		l.append(siblings)
	}
	siblingsEnd := int32(len(l.Senders))
	if delta >= 2 {
		l.append(children)
	}
	l.Bounds = append(l.Bounds, start, parentsEnd, siblingsEnd, int32(len(l.Senders)))
	l.Degrees[i] = int32(len(senders)) - removed
	l.siblings, l.children = siblings, children
}

func (l *Layout) append(edges []edge) {
	for _, e := range edges {
		l.Senders = append(l.Senders, e.sender)
		l.Relations = append(l.Relations, e.relation)
	}
}

// resize gives a slice n entries, of any value, without allocating where it is large enough.
func resize(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/4)
	}
	return s[:n]
}
