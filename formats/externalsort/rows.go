package externalsort

// Row is three ids, of an edge or of a query, which sort by the first, then the second, then the
// third. None is negative.
type Row [3]int32

// RowBytes is what a row takes in memory and in a run.
const RowBytes = 12

// Less tells whether r comes before s.
func (r Row) Less(s Row) bool {
	if r[0] != s[0] {
		return r[0] < s[0]
	}
	if r[1] != s[1] {
		return r[1] < s[1]
	}
	return r[2] < s[2]
}

// Sort sorts rows with as many rows of scratch, in a pass over both for each digit of 8 bits in
// which rows differ. It returns the sorted rows, which are in one of the two slices, and the
// other one.
func Sort(rows, scratch []Row) (sorted, other []Row) {
	scratch = scratch[:len(rows)]
	all, any := Row{-1, -1, -1}, Row{} // bits that are set in every row, and in some row
	for _, r := range rows {
		for column := range r {
			all[column] &= r[column]
			any[column] |= r[column]
		}
	}
	for column := 2; column >= 0; column-- {
		for shift := 0; shift < 32; shift += 8 {
			if uint8((all[column]^any[column])>>shift) != 0 && len(rows) > 1 {
				scatter(rows, scratch, column, shift)
				rows, scratch = scratch, rows
			}
		}
	}
	return rows, scratch
}

// scatter moves rows into the order of a digit, and otherwise leaves their order.
func scatter(from, to []Row, column, shift int) {
	var next [256]int
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
