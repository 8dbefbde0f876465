package window

import (
	"math/bits"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/kernel"
)

// Layout is the part of a graph that a search from one source reaches, as the propagation
// works through it: in rows 0..n-1 of every table, level by level, and within a level by degree,
// so that entities whose update shares a matrix stand together.
//
// Every edge has its reciprocal, so the distances of its ends differ by one at most: the
// senders of an entity are parents (one hop nearer), siblings and children. They stand in
// this order: what an entity hears at age 0, 1 or later is a longer and longer part of one list.
//
// A Layout is filled anew for each source and keeps its arrays; see Memory.
type Layout struct {
	// Entities has the entity in each row, [n].
	Entities []int32
	// Levels has the first row of each level, and n after the last, [hops+2].
	Levels []int32
	// Senders are the admitted senders of all rows, by kind: parents, siblings and children. A
	// sibling's row is listed one table before its own, a child's two: an entity of some age
	// hears its siblings' states of the age before and its children's of two before.
	Senders kernel.Senders
	// Degrees are in-degrees in the query's graph, [n]: also of edges that are not admitted.
	Degrees []int32
	// Ages say by age which states are equal; FindAlike fills them.
	Ages []Alike

	graph      *graph.Graph
	ranked     *ranked
	kernel     kernel.Kernel
	partition  kernel.Partition
	ranks      []int32    // by row
	numbers    []int32    // 0, 1, 2, ..: rows as lists
	counts     [][3]int64 // of each level's senders, by kind
	hops       int        // of the last Fill, as delta
	delta      int
	allAges    []Alike  // as many as there ever were
	compared   bool     // whether Ages are those of the last Fill
	slots      []uint64 // of FindAlike's hash table
	candidates []int32  // of a comparison
}

// NewLayout returns an empty layout for sources of g. It ranks the entities, which layouts for
// the same graph may share: pass nil, or another layout of g.
func NewLayout(g *graph.Graph, k kernel.Kernel, sibling *Layout) *Layout {
	l := &Layout{
		graph: g, kernel: k,
		ranks: make([]int32, 0, g.Entities), Entities: make([]int32, 0, g.Entities), Degrees: make([]int32, 0, g.Entities),
	}
	if sibling != nil && sibling.graph == g {
		l.ranked = sibling.ranked
	} else {
		l.ranked = newRanked(g)
	}
	r := l.ranked
	l.partition = kernel.Partition{
		Offsets: r.offsets, Senders: r.senders, Relations: r.relations,
		Rows: make([]int32, g.Entities), Reached: make([]uint64, (g.Entities+63)/64),
		Most: g.HighestDegree(),
	}
	return l
}

// Fill searches from a source and lays out what is at most hops away. Senders are admitted by
// delta: parents at 0, siblings too from 1 on, children too from 2 on (the edge constraint of
// the paper's equation 7, given that distances differ by one at most). table is how many rows a
// table of the states of an age has, 0 where states of all ages stand in one.
func (l *Layout) Fill(source int32, hops, delta int, table int32, removal graph.Removal) {
	l.start()
	l.partition.Table = table
	l.hops, l.delta, l.compared = hops, delta, false
	l.partition.Admitted = min(delta, 2) + 1
	l.partition.Reach(l.ranked.ranks[source])
	for level := range hops + 1 {
		l.addLevel()
		l.partition.Onward = level < hops
		l.part(l.Levels[level], l.Levels[level+1], removal)
		l.endLevel()
	}
}

// FillAll lays out the whole graph as one level; all senders count as parents.
func (l *Layout) FillAll(removal graph.Removal) {
	l.start()
	for rank := range int32(l.graph.Entities) {
		l.partition.Reach(rank)
	}
	l.addLevel()
	n := l.partition.End
	l.partition.Admitted, l.partition.Onward, l.partition.Begin = 1, false, n
	l.part(0, n, removal)
	l.endLevel()
}

// start empties the layout.
func (l *Layout) start() {
	for i := range l.partition.Rows {
		l.partition.Rows[i] = kernel.Unreached
	}
	l.ranks, l.Entities, l.Degrees, l.Levels = l.ranks[:0], l.Entities[:0], l.Degrees[:0], append(l.Levels[:0], 0)
	l.Senders.Rows, l.Senders.Relations, l.counts = l.Senders.Rows[:0], l.Senders.Relations[:0], l.counts[:0]
}

// addLevel gives the entities that were just reached their rows, which those that hear them
// as children have waited for.
func (l *Layout) addLevel() {
	r, rows, reached := l.ranked, l.partition.Rows, l.partition.Reached
	n, most := len(l.ranks), cap(l.ranks)
	ranks, entities, degrees := l.ranks[:most], l.Entities[:most], l.Degrees[:most]
	for i, word := range reached {
		if word == 0 {
			continue
		}
		reached[i] = 0
		for ; word != 0; word &= word - 1 {
			rank := int32(64*i + bits.TrailingZeros64(word))
			rows[rank] = int32(n)
			ranks[n], entities[n], degrees[n] = rank, r.entities[rank], r.degrees[rank]
			n++
		}
	}
	l.ranks, l.Entities, l.Degrees = ranks[:n], entities[:n], degrees[:n]
	l.partition.Begin, l.partition.End = l.Levels[len(l.Levels)-1], int32(len(l.ranks))
	l.Levels = append(l.Levels, l.partition.End)
	if levels := len(l.Levels); levels > 2 {
		l.find(l.Levels[levels-3], l.Levels[levels-2])
	}
}

// find replaces the children of rows lo to hi, which are entities as yet, by their rows.
func (l *Layout) find(lo, hi int32) {
	rows, before := l.partition.Rows, 2*l.partition.Table
	for i := lo; i < hi; i++ {
		children := l.Senders.Rows[l.Senders.Bounds[3*i+2]:l.Senders.Bounds[3*i+3]]
		for j, child := range children {
			children[j] = rows[child] - before
		}
	}
}

// endLevel counts the senders of the last level.
func (l *Layout) endLevel() {
	var counts [3]int64
	levels := len(l.Levels)
	for i := l.Levels[levels-2]; i < l.Levels[levels-1]; i++ {
		bounds := l.Senders.Bounds[3*i:][:4]
		for kind := range counts {
			counts[kind] += int64(bounds[kind+1] - bounds[kind])
		}
	}
	l.counts = append(l.counts, counts)
}

// part parts the senders of rows lo to hi. Those that may have lost an edge to a removal are
// done apart from the others.
func (l *Layout) part(lo, hi int32, removal graph.Removal) {
	l.reserve(lo, hi)
	for i := lo; removal.Active && i < hi; i++ {
		if removal.Touches(l.Entities[i]) {
			l.partRun(lo, i)
			l.partTouched(i, removal)
			lo = i + 1
		}
	}
	l.partRun(lo, hi)
}

// reserve makes room for the senders of rows lo to hi, of whatever kind.
func (l *Layout) reserve(lo, hi int32) {
	most := kernel.PartitionSlack
	for _, degree := range l.Degrees[lo:hi] {
		most += int(degree)
	}
	s := &l.Senders
	s.Rows, s.Relations, s.Bounds = slices.Grow(s.Rows, most), slices.Grow(s.Relations, most), resize(s.Bounds, 3*int(hi)+1)
}

func (l *Layout) partRun(lo, hi int32) {
	l.partition.Receivers, l.partition.First = l.ranks[lo:hi], lo
	l.kernel.Part(&l.partition, &l.Senders)
}

// partTouched parts the senders of one row, without the removed edges.
func (l *Layout) partTouched(row int32, removal graph.Removal) {
	p, into := &l.partition, &l.Senders
	bounds := into.Bounds[3*row:][:4]
	senders, relations := l.ranked.in(l.ranks[row])
	removed := int32(0)
	for kind := range 3 {
		bounds[kind] = int32(len(into.Rows))
		for j, sender := range senders {
			if removal.Removes(l.ranked.entities[sender], relations[j], l.Entities[row]) {
				removed++
				continue
			}
			if p.Onward && p.Rows[sender] == kernel.Unreached {
				p.Reach(sender)
			}
			if k, who := p.Kind(sender); k == kind && k < p.Admitted {
				into.Rows, into.Relations = append(into.Rows, who), append(into.Relations, relations[j])
			}
		}
	}
	bounds[3] = int32(len(into.Rows))
	l.Degrees[row] -= removed / 3 // it was met for each kind
}

// ByDegree are all entities of the graph by ascending degree, [V]. It is a view.
func (l *Layout) ByDegree() []int32 { return l.ranked.entities }

// Find is the row of an entity, or kernel.Unreached.
func (l *Layout) Find(entity int32) int32 { return l.partition.Rows[l.ranked.ranks[entity]] }

// Distance is the fewest edges from the source of the last Fill to the entity in a row.
func (l *Layout) Distance(row int32) (level int) {
	for row >= l.Levels[level+1] {
		level++
	}
	return level
}

// Level are the rows of a level. It is a view.
func (l *Layout) Level(level int) []int32 { return l.All()[l.Levels[level]:l.Levels[level+1]] }

// All are all rows. It is a view.
func (l *Layout) All() []int32 {
	for i := len(l.numbers); i < len(l.ranks); i++ {
		l.numbers = append(l.numbers, int32(i))
	}
	return l.numbers[:len(l.ranks)]
}

// Count is the number n of rows.
func (l *Layout) Count() int { return len(l.ranks) }

// Row is that of a sender of a kind, by what stands for it in the list of senders.
func (l *Layout) Row(sender int32, kind int) int32 { return sender + int32(kind)*l.partition.Table }

// Heard is how many senders of the first kinds the rows of a level have, all together.
func (l *Layout) Heard(level, kinds int) (count int64) {
	for _, of := range l.counts[level][:kinds] {
		count += of
	}
	return count
}

// Admitted is the number of senders that the edge constraint admits for a row.
func (l *Layout) Admitted(row int32) int32 {
	begin, end := l.Senders.Of(row, 3)
	return end - begin
}

// resize gives a slice n entries, of which those that were there stay, without allocating
// where it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return append(make([]T, 0, n+n/4), s...)[:n]
	}
	return s[:n]
}
