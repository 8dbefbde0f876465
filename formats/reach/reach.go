// Package reach holds what stands for the distance of an entity that a search does not reach, in memory and in each format.
package reach

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
)

const (
	// Unreached is that distance in memory.
	Unreached = 255
	// Packed stands for it where a distance has four bits: it is their largest number, and the low bits of Unreached.
	Packed = Unreached & 15
	// Most is the largest distance beside it.
	Most = Packed - 1
	// Column stands for it in columns of tables, in the results of rankings, and in answers of the library.
	Column = -1
	// Key stands for it in JSON.
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
