package window

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/kernel"
)

// Layout is the part of a graph that a search from one source reached, renumbered in the
// order in which the propagation works: positions 0..n-1, level by level, and within a
// level by degree, so that entities whose update shares a matrix stand together.
//
// Every edge has its reciprocal, so the distances of its ends differ by one at most: the
// senders of an entity are parents (one hop nearer), siblings and children. They stand in
// this order, which makes the messages of every layer contiguous.
//
// A Layout is filled anew for each source and keeps its arrays: about 32 bytes per reached
// entity, 8 per edge between reached ones, and 12 per entity of the graph.
type Layout struct {
	// Entities has the entity at each position, [n].
	Entities []int32
	// Levels has the first position of each level, and n after the last, [hops+2].
	Levels []int32
	// Kinds are the admitted senders of all positions: parents, siblings and children.
	Kinds [3]kernel.Parted
	// Degrees are in-degrees in the query's graph, [n]: also of edges that are not admitted.
	Degrees []int32
	// Ages say by age which states are equal; FindAlike fills them.
	Ages []Alike

	positions []int32 // of each entity
	byDegree  []int32 // all entities by ascending degree
	degrees   []int32 // of byDegree
	hops      int     // of the last Fill, as delta
	delta     int
	allAges   []Alike  // as many as there ever were
	compared  bool     // whether Ages are those of the last Fill
	slots     []uint64 // of FindAlike's hash table
	graph     *graph.Graph
	kernel    kernel.Kernel
	partition kernel.Partition
}

// NewLayout returns an empty layout for sources of g. It orders the entities by degree,
// which layouts for the same graph may share: pass nil, or another layout of g.
func NewLayout(g *graph.Graph, k kernel.Kernel, sibling *Layout) *Layout {
	l := &Layout{graph: g, kernel: k, positions: make([]int32, g.Entities)}
	l.partition = kernel.Partition{Offsets: g.Offsets, Senders: g.Senders, Relations: g.Relations, Positions: l.positions}
	if sibling != nil && sibling.graph == g {
		l.byDegree, l.degrees = sibling.byDegree, sibling.degrees
		return l
	}
	l.byDegree, l.degrees = make([]int32, g.Entities), make([]int32, g.Entities)
	for o := range l.byDegree {
		l.byDegree[o] = int32(o)
	}
	slices.SortFunc(l.byDegree, func(u, v int32) int {
		return cmp.Or(cmp.Compare(g.Degree(u), g.Degree(v)), cmp.Compare(u, v))
	})
	for i, o := range l.byDegree {
		l.degrees[i] = int32(g.Degree(o))
	}
	return l
}

// Fill lays out what is at most hops away, from distances as search.Searcher gives them
// (larger ones count as unreached). Senders are admitted by delta: parents at 0, siblings
// too from 1 on, children too from 2 on (the edge constraint of the paper's equation 7,
// given that distances differ by one at most).
func (l *Layout) Fill(distances []uint8, hops, delta int, removal graph.Removal) {
	l.hops, l.delta, l.compared = hops, delta, false
	l.order(distances, hops)
	l.start()
	for level := 0; level <= hops; level++ {
		start, end, next := l.Levels[level], l.Levels[level+1], l.Levels[min(level+2, hops+1)]
		l.partition.Thresholds = [3]int32{start, end, next}
		if delta < 2 {
			l.partition.Thresholds[2] = end
		}
		if delta < 1 {
			l.partition.Thresholds = [3]int32{start, start, start}
		}
		l.part(start, end, removal)
	}
}

// FillAll lays out the whole graph as one level, by degree; all senders count as parents.
func (l *Layout) FillAll(removal graph.Removal) {
	l.Entities = append(l.Entities[:0], l.byDegree...)
	n := int32(len(l.Entities))
	for i, o := range l.Entities {
		l.positions[o] = int32(i)
	}
	l.Levels = append(l.Levels[:0], 0, n)
	l.Degrees = append(l.Degrees[:0], l.degrees...)
	l.start()
	l.partition.Thresholds = [3]int32{n, n, n}
	l.part(0, n, removal)
}

// ByDegree are all entities of the graph by ascending degree, [V]. It is a view.
func (l *Layout) ByDegree() []int32 { return l.byDegree }

// Position is where a reached entity stands.
func (l *Layout) Position(entity int32) int32 { return l.positions[entity] }

// Admitted is the number of senders that the edge constraint admits at a position.
func (l *Layout) Admitted(position int32) (count int32) {
	for k := range l.Kinds {
		bounds := l.Kinds[k].Bounds
		count += bounds[position+1] - bounds[position]
	}
	return count
}

// Count is the number n of positions.
func (l *Layout) Count() int { return len(l.Entities) }

// order sorts the reached entities by level, then degree, by counting.
func (l *Layout) order(distances []uint8, hops int) {
	counts := countDistances(distances)
	l.Levels = append(l.Levels[:0], 0)
	var next [256]int32
	reached := int32(0)
	for level := 0; level <= hops; level++ {
		next[level] = reached
		reached += counts[level]
		l.Levels = append(l.Levels, reached)
	}
	l.Entities, l.Degrees = resize(l.Entities, int(reached)), resize(l.Degrees, int(reached))
	for o := range l.positions {
		l.positions[o] = kernel.Unreached
	}
	for i, o := range l.byDegree {
		distance := distances[o]
		if int(distance) > hops {
			continue
		}
		at := next[distance]
		next[distance]++
		l.Entities[at], l.Degrees[at] = o, l.degrees[i]
		l.positions[o] = at
	}
}

// countDistances counts how often each stands there. Four lists of counts take turns: most
// distances are equal to the one before, and to add to a number just stored takes a while.
func countDistances(distances []uint8) (counts [256]int32) {
	var turns [4][256]int32
	i := 0
	for ; i+4 <= len(distances); i += 4 {
		turns[0][distances[i]]++
		turns[1][distances[i+1]]++
		turns[2][distances[i+2]]++
		turns[3][distances[i+3]]++
	}
	for ; i < len(distances); i++ {
		turns[0][distances[i]]++
	}
	for d := range counts {
		counts[d] = turns[0][d] + turns[1][d] + turns[2][d] + turns[3][d]
	}
	return counts
}

func (l *Layout) start() {
	for k := range l.Kinds {
		kind := &l.Kinds[k]
		kind.Bounds = append(kind.Bounds[:0], 0)
		kind.Senders, kind.Relations = kind.Senders[:0], kind.Relations[:0]
	}
}

// part parts the senders of positions lo to hi. Those that may have lost an edge to a removal
// are done apart from the others.
func (l *Layout) part(lo, hi int32, removal graph.Removal) {
	l.reserve(lo, hi)
	for i := lo; removal.Active && i < hi; i++ {
		if o := l.Entities[i]; removal.Touches(o) {
			l.partRun(lo, i)
			l.partTouched(i, removal)
			lo = i + 1
		}
	}
	l.partRun(lo, hi)
}

// reserve makes room for the senders of positions lo to hi, of whatever kind.
func (l *Layout) reserve(lo, hi int32) {
	most := kernel.PartitionSlack
	for _, degree := range l.Degrees[lo:hi] {
		most += int(degree)
	}
	for k := range l.Kinds {
		kind := &l.Kinds[k]
		kind.Senders, kind.Relations = slices.Grow(kind.Senders, most), slices.Grow(kind.Relations, most)
	}
}

func (l *Layout) partRun(lo, hi int32) {
	l.partition.Receivers = l.Entities[lo:hi]
	l.kernel.Part(&l.partition, &l.Kinds)
}

// partTouched parts the senders of one entity, without the removed edges.
func (l *Layout) partTouched(i int32, removal graph.Removal) {
	o := l.Entities[i]
	senders, relations := l.graph.In(o)
	for j, u := range senders {
		if removal.Removes(u, relations[j], o) {
			l.Degrees[i]--
			continue
		}
		position := l.positions[u]
		for k, threshold := range l.partition.Thresholds {
			if position < threshold {
				kind := &l.Kinds[k]
				kind.Senders, kind.Relations = append(kind.Senders, position), append(kind.Relations, relations[j])
				break
			}
		}
	}
	for k := range l.Kinds {
		kind := &l.Kinds[k]
		kind.Bounds = append(kind.Bounds, int32(len(kind.Senders)))
	}
}

// resize gives a slice n entries, of any value, without allocating where it is large enough.
func resize(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/4)
	}
	return s[:n]
}
