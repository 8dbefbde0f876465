package externalsort

import "slices"

// Row is three ids, of an edge or of a query. Rows sort by the first id, then the second, then the
// third. None is negative.
type Row [3]int32

// RowBytes is the size of a row in memory and in a spill file.
const RowBytes = 12

// Compare returns -1, 0 or 1 as r sorts before, equal to or after s.
func (r Row) Compare(s Row) int { return slices.Compare(r[:], s[:]) }

// FactRow is a fact and its direction, four numbers by which it sorts, and four that go with them. None of the first
// four is negative.
type FactRow [8]int32

// FactRowBytes is the size of a fact row.
const FactRowBytes = 32

// Compare returns -1, 0 or 1 as r sorts before, equal to or after s.
func (r FactRow) Compare(s FactRow) int { return slices.Compare(r[:4], s[:4]) }

// RankedRow is a fact of a ranked list: eight numbers by which it sorts, the best first, and five that go with them.
type RankedRow [13]int32

// Compare returns -1, 0 or 1 as r sorts before, equal to or after s.
func (r RankedRow) Compare(s RankedRow) int { return slices.Compare(r[:8], s[:8]) }

// Sort is a radix sort. It takes as many rows of scratch, and one pass for each byte in which rows
// differ. It returns the sorted rows, which are in one of the two slices, and the other slice.
func Sort(rows, scratch []Row) (sorted, other []Row) {
	scratch = scratch[:len(rows)]
	all, some := Row{-1, -1, -1}, Row{} // bits that are set in every row, and in some row: rows differ in the bits of some alone
	for _, r := range rows {
		for column := range r {
			all[column] &= r[column]
			some[column] |= r[column]
		}
	}
	for column := 2; column >= 0; column-- {
		for shift := 0; shift < 32; shift += 8 {
			if uint8((all[column]^some[column])>>shift) != 0 && len(rows) > 1 {
				scatter(rows, scratch, column, shift)
				rows, scratch = scratch, rows
			}
		}
	}
	return rows, scratch
}

// scatter sorts rows by a byte of a column; it is stable.
func scatter(from, to []Row, column, shift int) {
	var next [256]int // the number of rows by digit, then the position in to of the next one
	for i := range from {
		next[uint8(from[i][column]>>shift)]++
	}
	sum := 0
	for digit, n := range next {
		next[digit] = sum
		sum += n
	}
	for _, r := range from {
		digit := uint8(r[column] >> shift)
		to[next[digit]] = r
		next[digit]++
	}
}
