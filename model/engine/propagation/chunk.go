package propagation

import "math"

// chunkRows is the number of receivers that are aggregated before they are multiplied: few enough
// that their features (5 dim · 4 bytes each) stay in the second-level cache.
const chunkRows = 128

// chunk iterates over the receivers of all groups of a layer, at most chunkRows at a time, merged by degree: receivers
// of equal degree share a folded weight matrix, and are neighbors in the chunk's features.
type chunk struct {
	update     *layerUpdate
	first      int       // the chunk's first receiver among the layer's, in the order of chunks
	count      int       // number of receivers
	begin      []int     // by group: index of its first row in the chunk
	end        []int     // by group: index after its last
	nextDegree []int32   // by group: the degree of the row at end, or noDegree
	positions  [][]int32 // by group: the position of each of its rows in the features
	buckets    []bucket
	// degrees has the degrees of the receivers in rare buckets, by position.
	degrees  [chunkRows]int32
	frequent []bool // by degree: it has buckets of its own
	minRows  int    // that such a bucket has
}

// bucket is a range of positions in a chunk, of receivers with equal degree, or of receivers with
// different rare degrees.
type bucket struct {
	first, last int
	degree      int32 // or rare
	zeroRows    int   // rows from first on whose previous state is zero
}

// minTrainingRows is the number of rows of a degree that a chunk must have for a folded matrix while
// training, which folds a second one for the backward pass and unfolds its gradient. Scoring has no
// such limit: equivalent states must have equal bits, whatever else is in their chunk.
const minTrainingRows = 5

// rare stands for the degree of a bucket whose rows have too few others of their degree to fold a matrix for.
const rare = -1

// noDegree is above all degrees: a group has no more rows.
const noDegree = math.MaxInt32

// identity has the position i at index i.
var identity = func() (positions [chunkRows]int32) {
	for i := range positions {
		positions[i] = int32(i)
	}
	return positions
}()

// chunks starts to iterate over a layer's receivers.
func (p *runner) chunks(x *layerUpdate) *chunk {
	c := &p.scratch.chunk
	c.update, c.first, c.count = x, 0, 0
	for len(c.positions) < len(x.groups) {
		c.begin, c.end, c.nextDegree = append(c.begin, 0), append(c.end, 0), append(c.nextDegree, 0)
		c.positions = append(c.positions, make([]int32, 0, chunkRows))
	}
	clear(c.end)
	for i := range x.groups {
		c.peek(i)
	}
	c.frequent, c.minRows = p.weights.frequent, 1
	if p.query.Training {
		c.minRows = minTrainingRows
	}
	return c
}

// rows returns the rows of a group that are in the chunk.
func (c *chunk) rows(group int) []int32 {
	return c.update.groups[group].rows[c.begin[group]:c.end[group]]
}

// next advances to the next chunk and reports whether there is one. It takes rows of the lowest
// remaining degree from every group, until the chunk is full.
func (c *chunk) next() bool {
	c.first += c.count
	c.count, c.buckets = 0, c.buckets[:0]
	for i := range c.update.groups {
		c.begin[i], c.positions[i] = c.end[i], c.positions[i][:0]
	}
	for c.count < chunkRows {
		degree := int32(noDegree)
		for _, next := range c.nextDegree[:len(c.update.groups)] {
			degree = min(degree, next)
		}
		if degree == noDegree {
			break
		}
		first := c.count
		zeroRows := 0
		for i := range c.update.groups {
			if c.nextDegree[i] == degree {
				c.take(i, degree)
			}
			if i == 0 && c.update.groups[0].previous == nil {
				zeroRows = c.count - first
			}
		}
		c.addBucket(first, degree, zeroRows)
	}
	return c.count > 0
}

// peek notes the degree of a group's next row.
func (c *chunk) peek(group int) {
	c.nextDegree[group] = noDegree
	if rows := c.update.groups[group].rows; c.end[group] < len(rows) {
		c.nextDegree[group] = c.update.degrees[rows[c.end[group]]]
	}
}

// take adds a group's next rows of a degree, as many as the chunk can hold.
func (c *chunk) take(group int, degree int32) {
	rows, degrees := c.update.groups[group].rows[c.end[group]:], c.update.degrees
	rows = rows[:min(len(rows), chunkRows-c.count)]
	n := 0
	for n < len(rows) && degrees[rows[n]] == degree {
		n++
	}
	c.end[group] += n
	c.positions[group] = append(c.positions[group], identity[c.count:c.count+n]...)
	c.count += n
	c.peek(group)
}

// addBucket puts the rows from position first on into a bucket of their own, or into a rare one.
func (c *chunk) addBucket(first int, degree int32, zeroRows int) {
	if int(degree) >= len(c.frequent) || !c.frequent[degree] || c.count-first < c.minRows {
		for i := first; i < c.count; i++ {
			c.degrees[i] = degree
		}
		degree, zeroRows = rare, 0
	}
	if last := len(c.buckets) - 1; last >= 0 && c.buckets[last].degree == degree {
		c.buckets[last].last = c.count
		return
	}
	c.buckets = append(c.buckets, bucket{first, c.count, degree, zeroRows})
}
