// Package hop has the marks of an entity that a search does not reach, in place of its distance in hops: one in memory
// and one for each format.
package hop

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
)

const (
	// Unreached marks it in memory, where a distance is a byte.
	Unreached = 255
	// Packed marks it where a distance has four bits: their largest number, and the low bits of Unreached.
	Packed = Unreached & 15
	// Most is the largest distance that is not a mark, in both.
	Most = Packed - 1
	// Column marks it in columns of tables, in the results of rankings, and in answers of the library.
	Column = -1
	// Key marks it in JSON.
	Key = "unreached"
)

// KeyOf returns the key in JSON of a distance in a column.
func KeyOf(column int32) string {
	if column == Column {
		return Key
	}
	return strconv.Itoa(int(column))
}

// Keys returns the keys of a map by distance in increasing order, and Key last.
func Keys[V any](m map[string]V) []string {
	hops := func(key string) int {
		if n, err := strconv.Atoi(key); err == nil {
			return n
		}
		return math.MaxInt
	}
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Compare(hops(a), hops(b)) })
}
