package propagation

// emptyTables are how many tables of states before anything arrived TransE needs in a window: a
// message from there says its relation alone. Entities of age 0 hear children of age -2.
const emptyTables = 2

// tables are the states, or gradients of states, of every age or after every layer. They stand
// in one piece, where what is a row of one table is a row of the one before it too, counted from
// the front of that: a list of rows serves all ages.
type tables struct {
	all  []float32   // [before + len(each), rows, row]
	each [][]float32 // [rows, row], by age or layer
	rows int
	// before is how many tables stand before the first.
	before int
}

// grow gives room for count tables, of any value.
func (t *tables) grow(count, before, rows, row int) {
	size := rows * row
	t.all, t.rows, t.before = grow(t.all, (before+count)*size), rows, before
	t.each = t.each[:0]
	for i := range count {
		t.each = append(t.each, t.all[(before+i)*size:(before+i+1)*size])
	}
}

// first is the first row of a table among all.
func (t *tables) first(table int) int { return (t.before + table) * t.rows }

// clearBefore makes the first rows of the tables before the first zero, for rows of so many
// entries.
func (t *tables) clearBefore(rows, row int) {
	for i := range t.before {
		clear(t.all[i*t.rows*row:][:rows*row])
	}
}
