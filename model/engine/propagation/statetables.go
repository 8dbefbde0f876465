package propagation

import "tagnet/model/parallel"

// emptyTables is the number of tables of zero states that TransE reads in a window, before the table of age 0: an empty
// message holds the relation's embedding. Children of entities of age 0 have age -2.
const emptyTables = 2

// stateTables hold states, or gradients of states. In a window there is a table for each age, or, for
// scoring, only two: an entity that is updated reads states of the previous layer alone, and what is
// no longer updated is read once more, as a final state. States after odd layers are then in one
// table and those after even layers in the other. The backward pass, attention over ages, and
// TransE need a table for every age. Without a window there is a table for each layer.
//
// The tables are contiguous, so an entry of a list of senders can name a row of the table before:
// the same list serves all ages.
type stateTables struct {
	all    []float32   // [before + len(each), rows, row length]
	each   [][]float32 // [rows, row length]
	rows   int
	before int // number of tables before the first
}

// resize allocates count tables, with arbitrary contents.
func (t *stateTables) resize(count, before, rows, rowLength int) {
	size := rows * rowLength
	t.all, t.rows, t.before = parallel.Resize(t.all, (before+count)*size), rows, before
	t.each = t.each[:0]
	for i := range count {
		t.each = append(t.each, t.all[(before+i)*size:(before+i+1)*size])
	}
}

// first returns the index of a table's first row among the rows of all tables.
func (t *stateTables) first(table int) int { return (t.before + table) * t.rows }

// clearBefore zeroes the first rows of the tables before the first.
func (t *stateTables) clearBefore(rows, rowLength int) {
	for i := range t.before {
		clear(t.all[i*t.rows*rowLength:][:rows*rowLength])
	}
}
