package kernel

import (
	"math"
	"math/bits"
)

// Values of Partition.Rows for entities that have no row yet. A search assigns rows in the
// order of distance; the row of an entity that was just reached is not known before all
// entities at its distance are.
const (
	NoRow        = math.MaxInt32
	NewlyReached = math.MaxInt32 - 1
)

// PartitionSlack is the number of entries after the last one that PartitionSenders may overwrite.
const PartitionSlack = 16

// Partition is one step of a breadth-first search that classifies the edges as it passes them:
// the receivers are all at the same distance from the source, and their senders are parents
// (one step closer), siblings (at the same distance) or children (one step farther). Every edge
// has its inverse, so senders that were unreached are now reached, one step farther.
type Partition struct {
	// Offsets, Senders and Relations are the graph's edges by receiver.
	Offsets            []int64
	Senders, Relations []int32
	// Rows has the row of every entity, or NoRow or NewlyReached.
	Rows []int32
	// Reached has a bit for every entity, set where it becomes NewlyReached.
	Reached []uint64
	// Receivers are the entities whose senders are classified. Their rows begin at FirstRow.
	Receivers []int32
	FirstRow  int32
	// LevelBegin and LevelEnd bound the rows at the receivers' distance. Parents are in earlier
	// rows and are kind 0, siblings are kind 1, children kind 2.
	LevelBegin, LevelEnd int32
	// TableRows is the number of rows of a table of states. A sibling is listed as its row minus
	// TableRows: its state is read one table before the parents'.
	TableRows int32
	// MaxSenders is the greatest number of senders of a receiver.
	MaxSenders int
	// Kinds is the number of kinds, 1 to 3, that are listed.
	Kinds int
	// Expand makes the step reach senders that are unreached.
	Expand bool

	// waiting are buffers of the assembly for a receiver's siblings and children while its
	// parents are listed: the siblings' rows and relations, then the children's.
	waiting [4][]int32
	count   int64 // of all senders; a field, so that a call allocates nothing
}

// none differs from every row.
const none = -1

// limits returns the row below which parents lie, the row below which siblings lie, and the values that stand
// for the rows of children and of entities that are not reached.
func (p *Partition) limits() (parents, siblings, children, unreached int) {
	parents, siblings, children, unreached = int(p.LevelBegin), int(p.LevelEnd), NewlyReached, NoRow
	if p.Kinds < 2 {
		siblings = parents
	}
	if p.Kinds < 3 {
		children = none
	}
	if !p.Expand {
		unreached = none
	}
	return parents, siblings, children, unreached
}

// MarkReached makes an entity that was unreached newly reached.
func (p *Partition) MarkReached(entity int32) {
	p.Rows[entity] = NewlyReached
	p.Reached[entity>>6] |= 1 << (entity & 63)
}

// Classify returns a sender's kind, 3 if it is unreached, and the row to list; a child is listed by its entity.
func (p *Partition) Classify(sender int32) (kind int, row int32) {
	row = p.Rows[sender]
	switch {
	case row < p.LevelBegin:
		return 0, row
	case row < p.LevelEnd:
		return 1, row - p.TableRows
	case row == NewlyReached:
		return 2, sender
	}
	return 3, row
}

// PartitionSenders visits the senders of a receiver twice: first it counts each kind,
// then it writes each to its kind's range. The loops have no branch that depends on the kind,
// which the processor could not predict.
//
// into needs capacity for all senders of the receivers and PartitionSlack more, and Offsets for
// all receivers. It receives the rows of parents and siblings, and the entities of children.
func (portable) PartitionSenders(p *Partition, into *Senders) {
	to, toRelations := into.Rows[:cap(into.Rows)], into.Relations[:cap(into.Relations)]
	n := len(into.Rows)
	for i, o := range p.Receivers {
		begin, end := p.Offsets[o], p.Offsets[o+1]
		senders := p.Senders[begin:end]
		parents, siblings := p.countKinds(senders)
		ends := [3]int{n, n + parents, n + parents + siblings}
		bounds := into.Offsets[3*(int(p.FirstRow)+i):][:4]
		bounds[0], bounds[1], bounds[2] = int32(ends[0]), int32(ends[1]), int32(ends[2])
		p.put(senders, p.Relations[begin:end], to, toRelations, &ends)
		n = ends[2]
		bounds[3] = int32(n)
	}
	into.Rows, into.Relations = to[:n], toRelations[:n]
}

// countKinds counts parents and siblings, and marks unreached senders as newly reached.
func (p *Partition) countKinds(senders []int32) (parents, siblings int) {
	rows := p.Rows
	beforeParents, beforeSiblings, _, unreached := p.limits()
	for _, u := range senders {
		row := int(rows[u])
		if row == unreached {
			p.MarkReached(u)
		}
		parents += below(row, beforeParents)
		siblings += below(row, beforeSiblings)
	}
	return parents, siblings - parents
}

// put writes each sender to the end of its kind's range.
func (p *Partition) put(senders, relations, to, toRelations []int32, ends *[3]int) {
	rows, table := p.Rows, int(p.TableRows)
	beforeParents, beforeSiblings, child, _ := p.limits()
	relations, toRelations = relations[:len(senders)], toRelations[:len(to)]
	n0, n1, n2 := ends[0], ends[1], ends[2]
	for j, u := range senders {
		row := int(rows[u])
		end, who := n2, int(u)
		if row < beforeSiblings {
			end, who = n1, row-table
		}
		if row < beforeParents {
			end, who = n0, row
		}
		to[end], toRelations[end] = int32(who), relations[j]
		parent := below(row, beforeParents)
		n0 += parent
		n1 += below(row, beforeSiblings) - parent
		n2 += same(row, child)
	}
	ends[2] = n2
}

// below returns 1 where a < b, else 0, without a branch.
func below(a, b int) int { return int(uint(a-b) >> (bits.UintSize - 1)) }

// same returns 1 where a == b, else 0, without a branch, for values of int32.
func same(a, b int) int { return int((uint64(uint32(a^b)) - 1) >> 63) }
