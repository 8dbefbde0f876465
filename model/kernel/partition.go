package kernel

import (
	"math"
	"math/bits"
)

// A search gives out rows in the order of distance. Unreached stands for the row of an entity
// that it has not reached; Fresh for that of one which it has just reached, whose row is not
// known before all at its distance are.
const (
	Unreached    = math.MaxInt32
	NewlyReached = math.MaxInt32 - 1
)

// PartitionSlack is how many entries beyond the last Part may overwrite.
const PartitionSlack = 16

// Partition is a step of a search that parts the edges as it passes over them: the senders of
// some receivers, which are all at the same distance from the source, by how far they are
// themselves. Those that were not reached before are now, one step farther; by reciprocity an
// edge that leads in leads out as well.
type Partition struct {
	// Offsets, Senders and Relations are the graph's edges by receiver.
	Offsets            []int64
	Senders, Relations []int32
	// Rows has the row of every entity, [V], or Unreached or Fresh.
	Rows []int32
	// Reached has a bit for every entity, which Part sets where it makes it Fresh.
	Reached []uint64
	// Receivers are the entities whose senders are parted. Their rows are First and on.
	Receivers []int32
	FirstRow  int32
	// Begin and End are the rows at the receivers' distance. Parents, in earlier rows, are
	// kind 0, siblings kind 1, children, one step farther, kind 2.
	LevelBegin, LevelEnd int32
	// Table is how many rows a table of states has. Siblings are listed so many rows before
	// their own: they are read from the table before the one that parents are read from.
	TableRows int32
	// Most bounds the senders of a receiver.
	MaxSenders int
	// Admitted is how many kinds there are, of the 3. Senders of others are not listed.
	Kinds int
	// Onward says whether what is unreached is reached from here.
	Expand bool

	// aside is where assembly lets siblings and children of one receiver wait for its last
	// parent: the siblings' rows and relations, then the children's.
	waiting [4][]int32
	count   int64 // of all senders; here, so that a call allocates nothing
}

// none is what no row is equal to.
const none = -1

// limits are the rows that parents and siblings stand before, and what children are marked
// with, and who is to be reached.
func (p *Partition) limits() (parents, siblings, children, unreached int) {
	parents, siblings, children, unreached = int(p.LevelBegin), int(p.LevelEnd), NewlyReached, Unreached
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

// Reach makes an entity that was unreached fresh.
func (p *Partition) MarkReached(entity int32) {
	p.Rows[entity] = NewlyReached
	p.Reached[entity>>6] |= 1 << (entity & 63)
}

// Kind is that of a sender, 3 where it is unreached, and what stands for it among those of its
// kind: a row or, of children, the entity.
func (p *Partition) Classify(sender int32) (kind int, who int32) {
	row := p.Rows[sender]
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

// Part goes over the senders of a receiver twice: it counts those of each kind, and then writes
// each to the end of its kind, whose place is known by then. Nothing is left to guess for the
// processor, but what is reached.
//
// into has PartitionSlack of capacity beyond all that the receivers may add, and Bounds of all
// of them. Of parents and siblings it receives the rows, of children the entities.
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

// countKinds counts parents and siblings, and reaches those that were unreached.
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

// put writes each sender to the end of its kind, and moves that.
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

// below is 1 where a < b, else 0, without a branch.
func below(a, b int) int { return int(uint(a-b) >> (bits.UintSize - 1)) }

// same is 1 where a == b, else 0, without a branch, for two that an int32 holds.
func same(a, b int) int { return int((uint64(uint32(a^b)) - 1) >> 63) }
