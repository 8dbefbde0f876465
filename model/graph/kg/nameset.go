package kg

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"tagnet/formats/storage/externalsort"
)

// NameSet is a hash set of names, which lie in one slice.
type NameSet struct {
	seed maphash.Seed
	// slots has, for each name, the upper half of its hash, and its offset in text plus 1; 0 is free.
	slots []uint64
	// text has the names, each after its length as a uvarint.
	text  []byte
	names int
}

// NewNameSet returns a set without names.
func NewNameSet() *NameSet { return &NameSet{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<10)} }

// maxText keeps offsets below 32 bits.
const maxText = 1 << 31

// entryBytes is the size of a name when the set is sorted.
const entryBytes = 16

// Full reports whether the set, growing or being sorted, takes limit bytes.
func (s *NameSet) Full(limit int64) bool {
	return 2*(8*int64(len(s.slots))+int64(len(s.text)))+entryBytes*int64(s.names) >= limit || len(s.text) >= maxText
}

// Len returns the number of names.
func (s *NameSet) Len() int { return s.names }

// name returns the name at an offset of text, a view.
func (s *NameSet) name(offset uint32) []byte {
	n, width := binary.Uvarint(s.text[offset:])
	from := int(offset) + width
	return s.text[from : from+int(n)]
}

// Add adds a name.
func (s *NameSet) Add(name []byte) {
	hash := maphash.Bytes(s.seed, name)
	mask := uint64(len(s.slots) - 1)
	i := hash & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if s.slots[i]>>32 == hash>>32 && bytes.Equal(s.name(uint32(s.slots[i])-1), name) {
			return
		}
	}
	s.slots[i] = hash>>32<<32 | uint64(len(s.text)+1)
	s.text = binary.AppendUvarint(s.text, uint64(len(name)))
	s.text = append(s.text, name...)
	s.names++
	if 4*s.names > 3*len(s.slots) {
		s.grow()
	}
}

// grow doubles the slots.
func (s *NameSet) grow() {
	old := s.slots
	s.slots = make([]uint64, 2*len(old))
	mask := uint64(len(s.slots) - 1)
	for _, idSlot := range old {
		if idSlot == 0 {
			continue
		}
		i := maphash.Bytes(s.seed, s.name(uint32(idSlot)-1)) & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = idSlot
	}
}

// Write writes the sorted names to a spill file and empties the set.
func (s *NameSet) Write(ctx context.Context, url string) (externalsort.Spill, error) {
	spill, err := externalsort.Write(ctx, url, externalsort.Names, func(yield func([]byte) bool) {
		for _, e := range s.sorted() {
			if !yield(s.name(e.offset)) {
				return
			}
		}
	})
	clear(s.slots)
	s.text, s.names = s.text[:0], 0
	return spill, err
}

// nameEntry is the offset of a name and the 8 bytes that follow the prefix of all names, as a number:
// most comparisons need no more.
type nameEntry struct {
	key    uint64
	offset uint32
}

// sorted returns entries of the names in byte order.
func (s *NameSet) sorted() []nameEntry {
	entries := make([]nameEntry, 0, s.names)
	var common []byte
	for offset := 0; offset < len(s.text); {
		name := s.name(uint32(offset))
		if offset == 0 {
			common = name
		}
		for !bytes.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
		entries = append(entries, nameEntry{offset: uint32(offset)})
		n, width := binary.Uvarint(s.text[offset:])
		offset += width + int(n)
	}
	for i, e := range entries {
		var key [8]byte
		copy(key[:], s.name(e.offset)[len(common):])
		entries[i].key = binary.BigEndian.Uint64(key[:])
	}
	slices.SortFunc(entries, func(a, b nameEntry) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return bytes.Compare(s.name(a.offset), s.name(b.offset))
	})
	return entries
}
