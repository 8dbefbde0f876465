package window

import (
	"math/bits"
	"slices"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// Layout is the part of a graph that a search from one source reaches, in rows 0..n-1: level by
// level, and within a level by ascending degree. The senders of a row are sorted into parents,
// siblings and children, in this order.
//
// A Layout is filled once for each source and reuses its arrays.
type Layout struct {
	// Entities has the entity in each row, [n].
	Entities []int32
	// Levels has the first row of each level, and n after the last, [hops+2].
	Levels []int32
	// Senders has the admitted senders of every row, by kind. A sibling's row is listed one table
	// before its own, a child's two tables: at an age an entity reads its siblings' states of the age
	// before, and its children's of two ages before.
	Senders kernel.Senders
	// Degrees are in-degrees in the query's graph, [n]. Edges that are not admitted count too.
	Degrees []int32
	// Needed has the number of states of each row that the candidates of FillFor depend on: its
	// states of ages 0, 1, .., [n].
	Needed []uint8
	// SourceChildren reports whether the source has admitted children, with or without rows.
	SourceChildren bool
	// Ages has, for each age, which rows have equal states. FindEquivalent fills it.
	Ages []Equivalence

	graph        *graph.Graph
	order        *degreeOrder
	kernel       kernel.Partitioner
	partition    kernel.Partition
	cone         *cone         // nil before it is first needed
	newest       [][]int32     // rows by the layer of their newest needed state; some have got a newer one since
	ranks        []int32       // by row
	rows         []int32       // 0, 1, 2, ..: the views that Level and All return
	counts       [][3]int64    // of each level's senders, by kind
	hops, delta  int           // of the last Fill
	equivalences []Equivalence // for as many ages as ever needed
	compared     bool          // Ages belong to the last Fill
	slots        []uint64      // of FindEquivalent's hash table
	candidates   []int32       // of a comparison
	neededOf     []int32       // rows of a level whose state of an age is needed
}

// NewLayout returns an empty layout for sources of g. Its entities are ordered by degree, which
// takes a copy of the edges; to share that copy pass another layout of g as shared, or else nil.
func NewLayout(g *graph.Graph, k kernel.Partitioner, shared *Layout) *Layout {
	l := &Layout{kernel: k}
	if shared != nil && shared.graph == g {
		l.take(g, shared.order)
	} else {
		l.Reset(g)
	}
	return l
}

// Reset makes the layout an empty one for sources of another graph, and reuses its arrays. It must not be shared.
func (l *Layout) Reset(g *graph.Graph) {
	if l.order == nil {
		l.order = new(degreeOrder)
	}
	l.order.fill(g)
	l.take(g, l.order)
}

// take makes the layout an empty one for sources of a graph.
func (l *Layout) take(g *graph.Graph, r *degreeOrder) {
	n := g.Entities
	l.graph, l.order, l.cone, l.compared = g, r, nil, false
	l.ranks, l.Entities, l.Degrees = parallel.Resize(l.ranks, n)[:0], parallel.Resize(l.Entities, n)[:0], parallel.Resize(l.Degrees, n)[:0]
	l.partition = kernel.Partition{
		Offsets: r.offsets, Senders: r.senders, Relations: r.relations,
		Rows: parallel.Resize(l.partition.Rows, n), Reached: parallel.Cleared(l.partition.Reached, (n+63)/64),
		MaxSenders: r.most,
	}
}

// Fill searches from a query's source in its graph and lays out the entities at most hops away. delta decides which
// senders are admitted: parents at 0, siblings too from 1 on, children too from 2 on. This is the
// edge constraint of the paper's equation 7, given that distances differ by at most one. table is
// the number of rows of a state table where each age has a table, and 0 where all ages share one.
func (l *Layout) Fill(q graph.Query, hops, delta int, table int32) {
	l.fill(q, hops, delta, table, nil)
	l.SourceChildren = l.counts[0][2] > 0
}

// fill lays out a window: the entities of levels, by distance, or all at most hops away where levels is nil.
func (l *Layout) fill(q graph.Query, hops, delta int, table int32, levels [][]int32) {
	l.start()
	l.partition.TableRows = table
	l.hops, l.delta, l.compared = hops, delta, false
	l.partition.Kinds = min(delta, 2) + 1
	l.partition.MarkReached(l.order.ranks[q.Source])
	for level := range hops + 1 {
		l.addLevel()
		l.partition.Expand = levels == nil && level < hops
		if levels != nil && level < hops {
			for _, o := range levels[level+1] {
				l.partition.MarkReached(l.order.ranks[o])
			}
		}
		l.sortSenders(l.Levels[level], l.Levels[level+1], q)
		l.endLevel()
	}
}

// FillAll lays out the whole graph of a query as one level, in which every sender is a parent.
func (l *Layout) FillAll(q graph.Query) {
	l.start()
	for rank := range int32(l.graph.Entities) {
		l.partition.MarkReached(rank)
	}
	l.addLevel()
	n := l.partition.LevelEnd
	l.partition.Kinds, l.partition.Expand, l.partition.LevelBegin = 1, false, n
	l.sortSenders(0, n, q)
	l.endLevel()
}

// start empties the layout.
func (l *Layout) start() {
	for i := range l.partition.Rows {
		l.partition.Rows[i] = kernel.NoRow
	}
	l.ranks, l.Entities, l.Degrees, l.Levels = l.ranks[:0], l.Entities[:0], l.Degrees[:0], append(l.Levels[:0], 0)
	l.Senders.Rows, l.Senders.Relations, l.counts = l.Senders.Rows[:0], l.Senders.Relations[:0], l.counts[:0]
}

// addLevel gives rows to the entities that were just reached, in order of rank, and writes these
// rows where the level before lists the entities as children.
func (l *Layout) addLevel() {
	r, rows, reached := l.order, l.partition.Rows, l.partition.Reached
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
	l.partition.LevelBegin, l.partition.LevelEnd = l.Levels[len(l.Levels)-1], int32(len(l.ranks))
	l.Levels = append(l.Levels, l.partition.LevelEnd)
	if levels := len(l.Levels); levels > 2 {
		l.resolveChildren(l.Levels[levels-3], l.Levels[levels-2])
	}
}

// resolveChildren replaces the children of rows lo to hi, listed as ranks until now, by their rows.
func (l *Layout) resolveChildren(lo, hi int32) {
	rows, before := l.partition.Rows, 2*l.partition.TableRows
	for i := lo; i < hi; i++ {
		children := l.Senders.Rows[l.Senders.Offsets[3*i+2]:l.Senders.Offsets[3*i+3]]
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
		bounds := l.Senders.Offsets[3*i:][:4]
		for kind := range counts {
			counts[kind] += int64(bounds[kind+1] - bounds[kind])
		}
	}
	l.counts = append(l.counts, counts)
}

// sortSenders sorts the senders of rows lo to hi by kind. The kernel does it, except for the two
// rows that may have lost an edge to a removal.
func (l *Layout) sortSenders(lo, hi int32, q graph.Query) {
	l.reserve(lo, hi)
	for i := lo; q.Removal != graph.RemoveNothing && i < hi; i++ {
		if q.Touches(l.Entities[i]) {
			l.sortRange(lo, i)
			l.sortTouched(i, q)
			lo = i + 1
		}
	}
	l.sortRange(lo, hi)
}

// reserve allocates the senders of rows lo to hi, of whatever kind.
func (l *Layout) reserve(lo, hi int32) {
	most := kernel.PartitionSlack
	for _, degree := range l.Degrees[lo:hi] {
		most += int(degree)
	}
	most = min(most, len(l.order.senders)+kernel.PartitionSlack) // degrees may count edges that a part of a graph does not have
	s := &l.Senders
	s.Rows, s.Relations, s.Offsets = slices.Grow(s.Rows, most), slices.Grow(s.Relations, most), parallel.Extend(s.Offsets, 3*int(hi)+1)
}

func (l *Layout) sortRange(lo, hi int32) {
	l.partition.Receivers, l.partition.FirstRow = l.ranks[lo:hi], lo
	l.kernel.PartitionSenders(&l.partition, &l.Senders)
}

// sortTouched sorts the senders of one row, without the removed edges.
func (l *Layout) sortTouched(row int32, q graph.Query) {
	p, into := &l.partition, &l.Senders
	bounds := into.Offsets[3*row:][:4]
	senders, relations := l.order.in(l.ranks[row])
	removed := int32(0)
	for kind := range 3 {
		bounds[kind] = int32(len(into.Rows))
		for j, sender := range senders {
			if l.graph.Removes(q, l.order.entities[sender], relations[j], l.Entities[row]) {
				removed++
				continue
			}
			if p.Expand && p.Rows[sender] == kernel.NoRow {
				p.MarkReached(sender)
			}
			if k, who := p.Classify(sender); k == kind && k < p.Kinds {
				into.Rows, into.Relations = append(into.Rows, who), append(into.Relations, relations[j])
			}
		}
	}
	bounds[3] = int32(len(into.Rows))
	l.Degrees[row] -= removed / 3 // every removed edge was counted once for each kind
}

// ByDegree returns all entities of the graph by ascending degree, [V]. The slice is a view.
func (l *Layout) ByDegree() []int32 { return l.order.entities }

// Row returns the row of an entity, or kernel.NoRow.
func (l *Layout) Row(entity int32) int32 { return l.partition.Rows[l.order.ranks[entity]] }

// Distance returns the fewest edges from the source of the last Fill to the entity in a row.
func (l *Layout) Distance(row int32) (level int) {
	for row >= l.Levels[level+1] {
		level++
	}
	return level
}

// Level returns the rows of a level. The slice is a view.
func (l *Layout) Level(level int) []int32 { return l.All()[l.Levels[level]:l.Levels[level+1]] }

// All returns all rows. The slice is a view.
func (l *Layout) All() []int32 {
	for i := len(l.rows); i < len(l.ranks); i++ {
		l.rows = append(l.rows, int32(i))
	}
	return l.rows[:len(l.ranks)]
}

// Count returns the number n of rows.
func (l *Layout) Count() int { return len(l.ranks) }

// SenderRow returns the row of a sender of a kind from its entry in Senders.Rows.
func (l *Layout) SenderRow(sender int32, kind int) int32 {
	return sender + int32(kind)*l.partition.TableRows
}

// Messages returns how many senders of the first kinds the rows of a level have in all.
func (l *Layout) Messages(level, kinds int) (count int64) {
	for _, ofKind := range l.counts[level][:kinds] {
		count += ofKind
	}
	return count
}

// Admitted returns the number of senders that the edge constraint admits for a row.
func (l *Layout) Admitted(row int32) int32 {
	begin, end := l.Senders.Range(row, 3)
	return end - begin
}
