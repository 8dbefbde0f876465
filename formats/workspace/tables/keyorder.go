package tables

import "slices"

// keyOrder compares the keys of rows that are to ascend.
type keyOrder struct {
	count int64
	last  [3]int32
}

// next takes the key of the next row. It is positive if that is larger than the one before, or the first,
// 0 if both are equal.
func (o *keyOrder) next(key [3]int32) int {
	order := slices.Compare(key[:], o.last[:])
	if o.count == 0 {
		order = 1
	}
	o.count, o.last = o.count+1, key
	return order
}
