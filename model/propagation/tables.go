package propagation

// emptyTables are how many tables of states before anything arrived TransE needs in a window: a
// message from there says its relation alone. Entities of age 0 hear children of age -2.
const emptyTables = 2

// tables are states, or gradients of states. In a window, scoring needs two: an entity that is
// updated reads states after the layer before alone, and what is not updated any more is read
// once more, as a final state. So those after odd layers stand in one table, those after even
// layers in the other. Where all ages are needed, on the way back and for an attention over
// them, each has a table; without a window, each layer.
//
// They stand in one piece, where what is a row of one table is a row of the one before it too,
// counted from the front of that: a list of rows serves all ages.
type tables struct {
	all  []float32   // [before + len(each), rows, row]
	each [][]float32 // [rows, row]
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
