package kernel

import "math"

// A search gives out rows in the order of distance. Unreached stands for the row of an entity
// that it has not reached; Fresh for that of one which it has just reached, whose row is not
// known before all at its distance are.
const (
	Unreached = math.MaxInt32
	Fresh     = math.MaxInt32 - 1
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
	First     int32
	// Begin and End are the rows at the receivers' distance. Parents, in earlier rows, are
	// kind 0, siblings kind 1, children, one step farther, kind 2.
	Begin, End int32
	// Table is how many rows a table of states has. Siblings are listed so many rows before
	// their own: they are read from the table before the one that parents are read from.
	Table int32
	// Most bounds the senders of a receiver.
	Most int
	// Admitted is how many kinds there are, of the 3. Senders of others are not listed.
	Admitted int
	// Onward says whether what is unreached is reached from here.
	Onward bool

	// aside is where siblings and children of one receiver wait for its last parent: the
	// siblings' rows and relations, then the children's.
	aside [4][]int32
	count int64 // of all senders; here, so that a call allocates nothing
}

// none is what no row is equal to.
const none = -1

// limits are the rows that parents and siblings stand before, and what children are marked
// with, and who is to be reached.
func (p *Partition) limits() (parents, siblings, children, unreached int32) {
	parents, siblings, children, unreached = p.Begin, p.End, Fresh, Unreached
	if p.Admitted < 2 {
		siblings = p.Begin
	}
	if p.Admitted < 3 {
		children = none
	}
	if !p.Onward {
		unreached = none
	}
	return parents, siblings, children, unreached
}

// Reach makes an entity that was unreached fresh.
func (p *Partition) Reach(entity int32) {
	p.Rows[entity] = Fresh
	p.Reached[entity>>6] |= 1 << (entity & 63)
}

// Kind is that of a sender, 3 where it is unreached, and what stands for it among those of its
// kind: a row or, of children, the entity.
func (p *Partition) Kind(sender int32) (kind int, who int32) {
	row := p.Rows[sender]
	switch {
	case row < p.Begin:
		return 0, row
	case row < p.End:
		return 1, row - p.Table
	case row == Fresh:
		return 2, sender
	}
	return 3, row
}

// room is what may be written of into, and of what waits.
func (p *Partition) room(into *Senders) (rows, relations []int32, aside *[4][]int32) {
	if len(p.aside[0]) < p.Most+PartitionSlack {
		for i := range p.aside {
			p.aside[i] = make([]int32, p.Most+PartitionSlack)
		}
	}
	return into.Rows[:cap(into.Rows)], into.Relations[:cap(into.Relations)], &p.aside
}

// Part writes every sender to the end of all kinds, and moves the end of the one that it
// is of: nothing is left to guess for the processor, but what is reached.
//
// into has PartitionSlack of capacity beyond all that the receivers may add, and Bounds of all
// of them. Of parents and siblings it receives the rows, of children the entities.
func (portable) Part(p *Partition, into *Senders) {
	s0, r0, aside := p.room(into)
	s1, r1, s2, r2 := aside[0], aside[1], aside[2], aside[3]
	n0 := len(into.Rows)
	parents, siblings, children, unreached := p.limits()
	for i, o := range p.Receivers {
		bounds := into.Bounds[3*(int(p.First)+i):][:4]
		bounds[0] = int32(n0)
		n1, n2 := 0, 0
		senders := p.Senders[p.Offsets[o]:p.Offsets[o+1]]
		relations := p.Relations[p.Offsets[o]:p.Offsets[o+1]]
		relations = relations[:len(senders)]
		for j, u := range senders {
			if p.Rows[u] == unreached {
				p.Reach(u)
			}
			row, relation := p.Rows[u], relations[j]
			s0[n0], r0[n0] = row, relation
			s1[n1], r1[n1] = row-p.Table, relation
			s2[n2], r2[n2] = u, relation
			parent := below(row, parents)
			n0 += parent
			n1 += below(row, siblings) - parent
			n2 += same(row, children)
		}
		bounds[1] = int32(n0)
		copy(r0[n0:], r1[:n1])
		n0 += copy(s0[n0:], s1[:n1])
		bounds[2] = int32(n0)
		copy(r0[n0:], r2[:n2])
		n0 += copy(s0[n0:], s2[:n2])
		bounds[3] = int32(n0)
	}
	into.Rows, into.Relations = into.Rows[:n0], into.Relations[:n0]
}

// below is 1 where a < b, else 0, without a branch.
func below(a, b int32) int { return int(uint64(int64(a)-int64(b)) >> 63) }

// same is 1 where a == b, else 0, without a branch.
func same(a, b int32) int { return int((uint64(uint32(a^b)) - 1) >> 63) }
