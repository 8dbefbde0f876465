package propagation

import "math"

// chunkRows is how many receivers are aggregated before they are multiplied: few enough that
// their features (5 dim · 4 bytes each) stay in the second-level cache.
const chunkRows = 128

// chunk is some receivers of a pass, of all of its parts, by degree: receivers of one degree
// share a linear map, and stand together in the features.
type chunk struct {
	pass  *pass
	first int       // of the pass's receivers, in the order of chunks
	count int       // of receivers
	from  []int     // by part: its first row in the chunk
	to    []int     // by part: behind its last
	ahead []int32   // by part: the degree of that row, or noDegree
	at    [][]int32 // by part: where each of its rows stands in the features
	runs  []run
	// degrees are those of the receivers in mixed runs, in the order of the features.
	degrees [chunkRows]int32
	common  []bool // by degree: whether it has runs of its own
	least   int    // rows that such a run must have
}

// run is a range of a chunk's features that one linear map serves, or, where the degree is
// mixed, of receivers of rare degrees.
type run struct {
	first, last int
	degree      int32
	fresh       int // rows from first on that had no state before
}

// fewestRows is how many rows of a degree must be in a chunk for a matrix of their own while
// training, which needs it once more on the way back, and takes its gradient apart.
// Elsewhere there is no such limit: entities that are reached alike must come out alike,
// whatever else is in their chunk.
const fewestRows = 5

// mixed stands for rare degrees: each has too few entities to make a matrix for it.
const mixed = -1

// noDegree is above all degrees: there are no more rows.
const noDegree = math.MaxInt32

// ascending are the places in a chunk's features.
var ascending = func() (places [chunkRows]int32) {
	for i := range places {
		places[i] = int32(i)
	}
	return places
}()

// chunks begins to go over a pass.
func (p *Propagator) chunks(x *pass) *chunk {
	c := &p.scratch.chunk
	c.pass, c.first, c.count = x, 0, 0
	for len(c.at) < len(x.parts) {
		c.from, c.to, c.ahead, c.at = append(c.from, 0), append(c.to, 0), append(c.ahead, 0), append(c.at, make([]int32, 0, chunkRows))
	}
	clear(c.to)
	for i := range x.parts {
		c.lookAhead(i)
	}
	c.common, c.least = p.weights.common, 1
	if p.query.Training {
		c.least = fewestRows
	}
	return c
}

// rows are those of a part that are in the chunk.
func (c *chunk) rows(part int) []int32 { return c.pass.parts[part].rows[c.from[part]:c.to[part]] }

// next moves on to the next rows. It takes the lowest degree that any part has next, from
// all parts in turn, until the chunk is full.
func (c *chunk) next() bool {
	c.first += c.count
	c.count, c.runs = 0, c.runs[:0]
	for i := range c.pass.parts {
		c.from[i], c.at[i] = c.to[i], c.at[i][:0]
	}
	for c.count < chunkRows {
		degree := int32(noDegree)
		for _, ahead := range c.ahead[:len(c.pass.parts)] {
			degree = min(degree, ahead)
		}
		if degree == noDegree {
			break
		}
		first := c.count
		fresh := 0
		for i := range c.pass.parts {
			if c.ahead[i] == degree {
				c.take(i, degree)
			}
			if i == 0 && c.pass.parts[0].own == nil {
				fresh = c.count - first
			}
		}
		c.extend(first, degree, fresh)
	}
	return c.count > 0
}

// lookAhead notes the degree of a part's next row.
func (c *chunk) lookAhead(part int) {
	c.ahead[part] = noDegree
	if rows := c.pass.parts[part].rows; c.to[part] < len(rows) {
		c.ahead[part] = c.pass.degrees[rows[c.to[part]]]
	}
}

// take moves on over a part's next rows of a degree, as far as there is room.
func (c *chunk) take(part int, degree int32) {
	rows, degrees := c.pass.parts[part].rows[c.to[part]:], c.pass.degrees
	rows = rows[:min(len(rows), chunkRows-c.count)]
	n := 0
	for n < len(rows) && degrees[rows[n]] == degree {
		n++
	}
	c.to[part] += n
	c.at[part] = append(c.at[part], ascending[c.count:c.count+n]...)
	c.count += n
	c.lookAhead(part)
}

// extend adds the rows from first on to the last run, or begins another.
func (c *chunk) extend(first int, degree int32, fresh int) {
	if int(degree) >= len(c.common) || !c.common[degree] || c.count-first < c.least {
		for i := first; i < c.count; i++ {
			c.degrees[i] = degree
		}
		degree, fresh = mixed, 0
	}
	if last := len(c.runs) - 1; last >= 0 && c.runs[last].degree == degree {
		c.runs[last].last = c.count
		return
	}
	c.runs = append(c.runs, run{first, c.count, degree, fresh})
}
