package ultra

import (
	"fmt"
	"math/bits"

	"tagnet/model/graph"
)

// Meetings are the pairs of relations, inverse ones included, with an entity that is a head of both, as 2R rows of 2R bits. They
// are all that there is to keep of the relation graph: the tails of a relation are the heads of its inverse.
//
// An edge of the relation graph leads from relation b to a, and is of type
//
//	hh where heads of a are heads of b     meet[a, b]
//	tt where tails of a are tails of b     meet[inverse a, inverse b]
//	ht where heads of a are tails of b     meet[a, inverse b]
//	th where tails of a are heads of b     meet[inverse a, b]
//
// A relation with a fact meets itself; the others have no edges.
type Meetings struct {
	relations int // 2R
	words     int // of a row
	bits      []uint64
}

// NewMeetings returns the meetings of R base relations, of which none meets another yet.
func NewMeetings(baseRelations int) *Meetings {
	words := (2*baseRelations + 63) / 64
	return &Meetings{relations: 2 * baseRelations, words: words, bits: make([]uint64, 2*baseRelations*words)}
}

// MeetingsOf returns the meetings of a graph's relations.
func MeetingsOf(g *graph.Graph) *Meetings {
	m := NewMeetings(g.BaseRelations)
	row := make([]uint64, m.words)
	for u := range int32(g.Entities) {
		_, entering := g.In(u)
		clear(row)
		for _, r := range entering {
			leaves := g.Inverse(r) // every edge that enters has an inverse that leaves
			row[leaves>>6] |= 1 << (leaves & 63)
		}
		m.Add(row)
	}
	return m
}

// Words returns the number of words of a row of bits.
func (m *Meetings) Words() int { return m.words }

// Add records that the relations in a row of bits, those whose edges leave one entity, meet each other.
func (m *Meetings) Add(relations []uint64) {
	relations = relations[:m.words]
	for i, word := range relations {
		for ; word != 0; word &= word - 1 {
			row := m.row(int32(64*i + bits.TrailingZeros64(word)))
			for j, with := range relations {
				row[j] |= with
			}
		}
	}
}

// Merge adds the meetings of other, of as many relations. In whatever order meetings are added and merged, the result is the same.
func (m *Meetings) Merge(other *Meetings) error {
	if m.relations != other.relations {
		return fmt.Errorf("merging meetings of %d relations with those of %d", m.relations, other.relations)
	}
	for i, word := range other.bits {
		m.bits[i] |= word
	}
	return nil
}

// Meet reports whether an entity is a head of both relations.
func (m *Meetings) Meet(a, b int32) bool { return m.row(a)[b>>6]>>(b&63)&1 != 0 }

func (m *Meetings) row(a int32) []uint64 { return m.bits[int(a)*m.words : (int(a)+1)*m.words] }

// inverse returns the inverse of a relation.
func (m *Meetings) inverse(a int32) int32 {
	if base := int32(m.relations / 2); a < base {
		return a + base
	} else {
		return a - base
	}
}

// Edges yields the edges of the relation graph to a receiver, by type (0 to 3, in the order above) and sender.
func (m *Meetings) Edges(receiver int32) func(yield func(kind, sender int32) bool) {
	return func(yield func(kind, sender int32) bool) {
		inverse := m.inverse(receiver)
		for kind, of := range [types]struct {
			side     int32
			inverted bool
		}{{receiver, false}, {inverse, true}, {receiver, true}, {inverse, false}} {
			for sender := range int32(m.relations) {
				met := sender
				if of.inverted {
					met = m.inverse(sender)
				}
				if m.Meet(of.side, met) && !yield(int32(kind), sender) {
					return
				}
			}
		}
	}
}
