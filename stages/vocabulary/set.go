package vocabulary

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"tagnet/formats/externalsort"
)

// set is distinct names, in one piece of memory.
type set struct {
	seed maphash.Seed
	// slots has, for each name, the upper half of its hash, and where it lies plus 1; 0 is free.
	slots []uint64
	// letters has the names, each behind its length as a uvarint.
	letters []byte
	names   int
}

func newSet() *set { return &set{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<10)} }

// mostLetters keeps places below 32 bits.
const mostLetters = 1 << 31

// bytesSorted is what a name takes when it is written: its place and its first letters.
const bytesSorted = 16

// full tells whether the set takes so many bytes, growing or being written included.
func (s *set) full(most int64) bool {
	return 2*(8*int64(len(s.slots))+int64(len(s.letters)))+bytesSorted*int64(s.names) >= most || len(s.letters) >= mostLetters
}

// at is the name that lies somewhere.
func (s *set) at(place uint32) []byte {
	n, width := binary.Uvarint(s.letters[place:])
	from := int(place) + width
	return s.letters[from : from+int(n)]
}

// add takes a name, unless it is there.
func (s *set) add(name []byte) {
	hash := maphash.Bytes(s.seed, name)
	mask := uint64(len(s.slots) - 1)
	i := hash & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if s.slots[i]>>32 == hash>>32 && bytes.Equal(s.at(uint32(s.slots[i])-1), name) {
			return
		}
	}
	s.slots[i] = hash>>32<<32 | uint64(len(s.letters)+1)
	s.letters = binary.AppendUvarint(s.letters, uint64(len(name)))
	s.letters = append(s.letters, name...)
	s.names++
	if 4*s.names > 3*len(s.slots) {
		s.grow()
	}
}

func (s *set) grow() {
	old := s.slots
	s.slots = make([]uint64, 2*len(old))
	mask := uint64(len(s.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := maphash.Bytes(s.seed, s.at(uint32(slot)-1)) & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = slot
	}
}

// write writes the names as a run and empties the set.
func (s *set) write(ctx context.Context, url string) (externalsort.Run, error) {
	w, err := externalsort.CreateNames(ctx, url)
	if err != nil {
		return externalsort.Run{}, err
	}
	defer w.Abort()
	for _, place := range s.sorted() {
		if err := w.Write(s.at(place.at)); err != nil {
			return externalsort.Run{}, err
		}
	}
	clear(s.slots)
	s.letters, s.names = s.letters[:0], 0
	return w.Commit()
}

// place is where a name lies, and the first letters behind those that all names share, as a
// number: most comparisons need no more.
type place struct {
	first uint64
	at    uint32
}

// sorted returns the places of the names in byte order.
func (s *set) sorted() []place {
	places := make([]place, 0, s.names)
	var common []byte
	for at := 0; at < len(s.letters); {
		name := s.at(uint32(at))
		if at == 0 {
			common = name
		}
		for !bytes.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
		places = append(places, place{at: uint32(at)})
		n, width := binary.Uvarint(s.letters[at:])
		at += width + int(n)
	}
	for i, p := range places {
		var letters [8]byte
		copy(letters[:], s.at(p.at)[len(common):])
		places[i].first = binary.BigEndian.Uint64(letters[:])
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return bytes.Compare(s.at(a.at), s.at(b.at))
	})
	return places
}
