package parts

import "math/bits"

// table numbers entities in the order in which they are first seen. It takes memory for those alone, unlike
// an array by entity.
type table struct {
	entities []int32  // by number
	slots    []uint64 // entity + 1 above, number below; 0 is free. Their number is a power of two, at least twice the number of entities.
	shift    int
}

func (t *table) reset() {
	t.entities = t.entities[:0]
	if len(t.slots) == 0 {
		t.grow(1 << 10)
		return
	}
	clear(t.slots)
}

// slot returns the slot of an entity, or the free one where it belongs.
func (t *table) slot(entity int32) *uint64 {
	i := int(uint32(entity) * 0x9E3779B1 >> t.shift)
	for {
		s := &t.slots[i]
		if *s == 0 || int32(*s>>32)-1 == entity {
			return s
		}
		i = (i + 1) & (len(t.slots) - 1)
	}
}

// find returns the number of an entity, or -1.
func (t *table) find(entity int32) int32 {
	if s := *t.slot(entity); s != 0 {
		return int32(uint32(s))
	}
	return -1
}

// add returns the number of an entity, which gets the next number if it has none.
func (t *table) add(entity int32) (number int32, isNew bool) {
	s := t.slot(entity)
	if *s != 0 {
		return int32(uint32(*s)), false
	}
	number = int32(len(t.entities))
	*s = uint64(entity+1)<<32 | uint64(number)
	t.entities = append(t.entities, entity)
	if 2*len(t.entities) > len(t.slots) {
		t.grow(2 * len(t.slots))
	}
	return number, true
}

func (t *table) grow(slots int) {
	t.slots, t.shift = make([]uint64, slots), 32-bits.TrailingZeros(uint(slots))
	for number, entity := range t.entities {
		*t.slot(entity) = uint64(entity+1)<<32 | uint64(number)
	}
}
