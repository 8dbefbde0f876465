package relations

import (
	"fmt"
	"math/bits"

	"tagnet/model/graph"
)

// Meetings are the pairs of relations, inverse ones included, with an entity that is a head of both, as 2R rows of 2R bits: for
// a Graph in memory. The result does not depend on the order of Add.
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
	eachLeaving(g, m.add)
	return m
}

// Add records that relations meet each other, given the relations whose edges leave one entity, in any order.
func (m *Meetings) Add(relations []int32) error {
	for _, r := range relations {
		if r < 0 || int(r) >= m.relations {
			return fmt.Errorf("relation %d is not one of %d", r, m.relations)
		}
	}
	m.add(relations)
	return nil
}

// add records that all pairs of the relations meet, a relation with itself too.
func (m *Meetings) add(relations []int32) {
	for _, a := range relations {
		row := m.row(a)
		for _, b := range relations {
			row[b>>6] |= 1 << (b & 63)
		}
	}
}

// Graph returns the relation graph.
func (m *Meetings) Graph() *Graph {
	n := 0
	for _, word := range m.bits {
		n += bits.OnesCount64(word)
	}
	g := newGraph(m.relations, n)
	for a := range int32(m.relations) {
		for i, word := range m.row(a) {
			for ; word != 0; word &= word - 1 {
				g.meets = append(g.meets, int32(64*i+bits.TrailingZeros64(word)))
			}
		}
		g.endRow()
	}
	return g
}

func (m *Meetings) row(a int32) []uint64 { return m.bits[int(a)*m.words : (int(a)+1)*m.words] }
