package kernel

import "math"

// Unreached is the position of an entity that has none.
const Unreached = math.MaxInt32

// PartitionSlack is how many entries beyond the last Partition may overwrite.
const PartitionSlack = 16

// Partition is the work of parting the senders of some receivers, which are all at the same
// distance from a source, by how far they are themselves. Positions are given out in the
// order of distance, so a comparison of positions tells.
type Partition struct {
	// Offsets, Senders and Relations are the graph's edges by receiver.
	Offsets            []int64
	Senders, Relations []int32
	// Positions has the position of every entity, or Unreached.
	Positions []int32
	// Receivers are the entities whose senders are parted.
	Receivers []int32
	// Thresholds part the positions: those below the first are of kind 0, below the second
	// of kind 1, below the third of kind 2. All others send nothing.
	Thresholds [3]int32

	counts [3]int64 // of senders by kind; here, so that a call allocates nothing
}

// Parted is what a Partition gives one kind of senders, in compressed sparse form. Rows are
// appended: Bounds ends with the number of senders there are, Senders (positions) and
// Relations have that length and PartitionSlack of capacity beyond all senders that the
// receivers may add.
type Parted struct {
	Bounds, Senders, Relations []int32
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
// is of: nothing is left to guess for the processor.
func (portable) Part(p *Partition, kinds *[3]Parted) {
	s0, r0 := kinds[0].room()
	s1, r1 := kinds[1].room()
	s2, r2 := kinds[2].room()
	n0, n1, n2 := len(kinds[0].Senders), len(kinds[1].Senders), len(kinds[2].Senders)
	t0, t1, t2 := p.Thresholds[0], p.Thresholds[1], p.Thresholds[2]
	for _, o := range p.Receivers {
		senders := p.Senders[p.Offsets[o]:p.Offsets[o+1]]
		relations := p.Relations[p.Offsets[o]:p.Offsets[o+1]]
		relations = relations[:len(senders)]
		for j, u := range senders {
			position, relation := p.Positions[u], relations[j]
			s0[n0], r0[n0] = position, relation
			s1[n1], r1[n1] = position, relation
			s2[n2], r2[n2] = position, relation
			below0, below1, below2 := below(position, t0), below(position, t1), below(position, t2)
			n0 += below0
			n1 += below1 - below0
			n2 += below2 - below1
		}
		kinds[0].Bounds = append(kinds[0].Bounds, int32(n0))
		kinds[1].Bounds = append(kinds[1].Bounds, int32(n1))
		kinds[2].Bounds = append(kinds[2].Bounds, int32(n2))
	}
	kinds[0].grown(n0)
	kinds[1].grown(n1)
	kinds[2].grown(n2)
}

// below is 1 where a < b, else 0, without a branch.
func below(a, b int32) int { return int(uint64(int64(a)-int64(b)) >> 63) }
