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
	// Admitted is how many kinds there are, of the 3. Senders of others are not listed.
	Admitted int
	// Onward says whether what is unreached is reached from here.
	Onward bool

	counts [3]int64 // of senders by kind; here, so that a call allocates nothing
}

// Parted is what Part gives one kind of senders, in compressed sparse form.
type Parted struct {
	// Bounds is [2 rows]: the senders of row i are Bounds[2 i] to Bounds[2 i + 1].
	Bounds []int32
	// Senders and Relations are appended to: of parents and siblings the rows, of children the
	// entities. They have PartitionSlack of capacity beyond all that the receivers may add.
	Senders, Relations []int32
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

// Kind is that of a sender, 3 where it is unreached, and who it is in the lists of its kind: a
// row or, of children, the entity.
func (p *Partition) Kind(sender int32) (kind int, who int32) {
	row := p.Rows[sender]
	switch {
	case row < p.Begin:
		return 0, row
	case row < p.End:
		return 1, row
	case row == Fresh:
		return 2, sender
	}
	return 3, row
}

// grown takes up the senders that were written beyond the end.
func (p *Parted) grown(count int) {
	p.Senders, p.Relations = p.Senders[:count], p.Relations[:count]
}

// room is what may be written to.
func (p *Parted) room() (senders, relations []int32) {
	return p.Senders[:cap(p.Senders)], p.Relations[:cap(p.Relations)]
}

// Part writes every sender to the end of all kinds, and moves the end of the one that it
// is of: nothing is left to guess for the processor, but what is reached.
func (portable) Part(p *Partition, kinds *[3]Parted) {
	s0, r0 := kinds[0].room()
	s1, r1 := kinds[1].room()
	s2, r2 := kinds[2].room()
	n0, n1, n2 := len(kinds[0].Senders), len(kinds[1].Senders), len(kinds[2].Senders)
	parents, siblings, children, unreached := p.limits()
	for i, o := range p.Receivers {
		at := 2 * (int(p.First) + i)
		kinds[0].Bounds[at], kinds[1].Bounds[at], kinds[2].Bounds[at] = int32(n0), int32(n1), int32(n2)
		senders := p.Senders[p.Offsets[o]:p.Offsets[o+1]]
		relations := p.Relations[p.Offsets[o]:p.Offsets[o+1]]
		relations = relations[:len(senders)]
		for j, u := range senders {
			if p.Rows[u] == unreached {
				p.Reach(u)
			}
			row, relation := p.Rows[u], relations[j]
			s0[n0], r0[n0] = row, relation
			s1[n1], r1[n1] = row, relation
			s2[n2], r2[n2] = u, relation
			parent := below(row, parents)
			n0 += parent
			n1 += below(row, siblings) - parent
			n2 += same(row, children)
		}
		kinds[0].Bounds[at+1], kinds[1].Bounds[at+1], kinds[2].Bounds[at+1] = int32(n0), int32(n1), int32(n2)
	}
	kinds[0].grown(n0)
	kinds[1].grown(n1)
	kinds[2].grown(n2)
}

// below is 1 where a < b, else 0, without a branch.
func below(a, b int32) int { return int(uint64(int64(a)-int64(b)) >> 63) }

// same is 1 where a == b, else 0, without a branch.
func same(a, b int32) int { return int((uint64(uint32(a^b)) - 1) >> 63) }
