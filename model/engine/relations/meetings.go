package relations

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"tagnet/formats/storage"
	"tagnet/model/graph"
)

// Meetings are the pairs of relations, inverse ones included, with an entity that is a head of both, as 2R rows of 2R bits: for
// collecting a Graph of few relations. The result does not depend on the order of Add and Merge.
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

// Merge adds the meetings of other, of as many relations.
func (m *Meetings) Merge(other *Meetings) error {
	if m.relations != other.relations {
		return fmt.Errorf("merging meetings of %d relations with those of %d", m.relations, other.relations)
	}
	for i, word := range other.bits {
		m.bits[i] |= word
	}
	return nil
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

// MarshalBinary encodes the meetings: the number of relations; then, for each word of the rows that is not 0, the number of zeros
// before it and the word; and the CRC-32C of all that. Numbers are uvarints, words have 8 bytes, the checksum 4, little-endian.
func (m *Meetings) MarshalBinary() ([]byte, error) {
	encoded := binary.AppendUvarint(nil, uint64(m.relations))
	zeros := uint64(0)
	for _, word := range m.bits {
		if word == 0 {
			zeros++
			continue
		}
		encoded = binary.AppendUvarint(encoded, zeros)
		encoded = binary.LittleEndian.AppendUint64(encoded, word)
		zeros = 0
	}
	return binary.LittleEndian.AppendUint32(encoded, storage.CRC32C(0, encoded)), nil
}

// MostRelations is the most relations, inverse ones included, of encoded meetings, which take 50 MB then.
const MostRelations = 20_000

// UnmarshalBinary replaces the meetings by encoded ones. It returns an error for anything that MarshalBinary does not write.
func (m *Meetings) UnmarshalBinary(encoded []byte) error {
	damaged := fmt.Errorf("decoding meetings of relations: the %d bytes are not meetings, or are damaged", len(encoded))
	end := len(encoded) - 4
	if end < 0 || storage.CRC32C(0, encoded[:end]) != binary.LittleEndian.Uint32(encoded[end:]) {
		return damaged
	}
	// Numbers are varints: of relations, then of zero words before each word.
	rest := encoded[:end]
	number := func() (uint64, bool) {
		n, length := binary.Uvarint(rest)
		if length <= 0 {
			return 0, false
		}
		rest = rest[length:]
		return n, true
	}
	relations, ok := number()
	if !ok || relations > MostRelations || relations%2 != 0 {
		return damaged
	}
	*m = *NewMeetings(int(relations / 2))
	beyond := ^uint64(0) << (m.relations % 64) // in the last word of a row
	for next := 0; len(rest) > 0; next++ {
		zeros, ok := number()
		if !ok || len(rest) < 8 || zeros >= uint64(len(m.bits)-next) {
			return damaged
		}
		next += int(zeros)
		word := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		// A zero word, or a bit beyond the relations, is never written.
		if word == 0 || m.relations%64 != 0 && next%m.words == m.words-1 && word&beyond != 0 {
			return damaged
		}
		m.bits[next] = word
	}
	return nil
}
