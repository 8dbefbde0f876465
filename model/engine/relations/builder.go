package relations

import "fmt"

// Pairs collects a Graph from pairs of relations that meet, in order.
type Pairs struct {
	graph *Graph // its rows have only relations that are not less than their own
	a     int32  // the row that pairs are added to
}

// NewPairs returns the pairs of R base relations.
func NewPairs(baseRelations int) *Pairs {
	return &Pairs{graph: newGraph(2*baseRelations, 0)}
}

// Add records that relations a <= b meet. Pairs come in increasing order, each once.
func (p *Pairs) Add(a, b int32) error {
	g := p.graph
	if a < 0 || b < a || int(b) >= g.relations {
		return fmt.Errorf("(%d, %d) is not a pair of %d relations in increasing order", a, b, g.relations)
	}
	begin := g.offsets[len(g.offsets)-1]
	if a < p.a || a == p.a && len(g.meets) > begin && b <= g.meets[len(g.meets)-1] {
		return fmt.Errorf("the pair (%d, %d) is out of order", a, b)
	}
	if len(g.meets) == mostMeetings {
		return g.tooMany()
	}
	for ; p.a < a; p.a++ {
		g.endRow()
	}
	g.meets = append(g.meets, b)
	return nil
}

// Graph returns the relation graph. The pairs cannot be used any more.
func (p *Pairs) Graph() (*Graph, error) {
	half := p.graph
	for len(half.offsets) <= half.relations {
		half.endRow()
	}
	// The row of b gets each a < b before its own pairs, so that it is in order.
	sizes, n := make([]int, half.relations), 0
	for a := range int32(half.relations) {
		for _, b := range half.row(a) {
			sizes[a]++
			n++
			if b != a {
				sizes[b]++
				n++
			}
		}
	}
	if n > mostMeetings {
		return nil, half.tooMany()
	}
	g := &Graph{relations: half.relations, offsets: make([]int, half.relations+1), meets: make([]int32, n)}
	for a, size := range sizes {
		g.offsets[a+1] = g.offsets[a] + size
	}
	// Each pair is written to both rows.
	next := sizes
	copy(next, g.offsets)
	for a := range int32(half.relations) {
		for _, b := range half.row(a) {
			g.meets[next[a]] = b
			next[a]++
			if b != a {
				g.meets[next[b]] = a
				next[b]++
			}
		}
	}
	_, err := g.check()
	return g, err
}

// Reader collects a Graph from all of its edges, and verifies that it is one: three quarters of the edges follow from the
// others.
type Reader struct {
	graph *Graph
	rows  int    // edges so far
	row   int32  // of the graph, that hh edges are added to
	rest  cursor // over the edges of the other types, once type hh is complete
}

// NewReader returns a reader of the edges between the relations, with inverses, of R base relations.
func NewReader(baseRelations int) *Reader {
	return &Reader{graph: newGraph(2*baseRelations, 0)}
}

// Add adds an edge. Edges come by type, receiver and sender, without repetitions. The error names the row, counted from 0, and why no
// relation graph has that edge there.
func (r *Reader) Add(e Edge) error {
	if err := r.complete(e.Type); err != nil {
		return err
	}
	if err := r.add(e); err != nil {
		return fmt.Errorf("row %d: %w", r.rows, err)
	}
	r.rows++
	return nil
}

// add takes the next edge of a file. The edges of the first type determine the others, which are only compared.
func (r *Reader) add(e Edge) error {
	g := r.graph
	if n := int32(g.relations); e.Type >= types || e.Receiver < 0 || e.Receiver >= n || e.Sender < 0 || e.Sender >= n {
		return fmt.Errorf("type %d, receiver %d, sender %d: not an edge between %d relations", e.Type, e.Receiver, e.Sender, n)
	}
	if r.rest.graph == nil {
		return r.addFirst(e)
	}
	want, ok := r.rest.next()
	switch {
	case !ok:
		return fmt.Errorf("the %v is one too many", e)
	case e != want:
		return fmt.Errorf("the %v is not the %v, which follows from the hh edges", e, want)
	}
	return nil
}

// addFirst adds a hh edge.
func (r *Reader) addFirst(e Edge) error {
	g := r.graph
	begin := g.offsets[len(g.offsets)-1]
	if e.Receiver < r.row || e.Receiver == r.row && len(g.meets) > begin && e.Sender <= g.meets[len(g.meets)-1] {
		return fmt.Errorf("the %v is out of order, or a repetition", e)
	}
	if len(g.meets) == mostMeetings {
		return g.tooMany()
	}
	for ; r.row < e.Receiver; r.row++ {
		g.endRow()
	}
	g.meets = append(g.meets, e.Sender)
	return nil
}

// complete verifies the hh edges before the first edge of another type is added.
func (r *Reader) complete(kind uint8) error {
	if r.rest.graph != nil || kind == 0 {
		return nil
	}
	for len(r.graph.offsets) <= r.graph.relations {
		r.graph.endRow()
	}
	if row, err := r.graph.check(); err != nil {
		return fmt.Errorf("row %d: %w", row, err)
	}
	r.rest = cursor{graph: r.graph, list: r.graph.relations}
	return nil
}

// Graph returns the relation graph when all edges are added.
func (r *Reader) Graph() (*Graph, error) {
	if err := r.complete(types); err != nil {
		return nil, err
	}
	if missing, ok := r.rest.next(); ok {
		return nil, fmt.Errorf("row %d: the %v is missing", r.rows, missing)
	}
	return r.graph, nil
}

// check returns an error unless relations meet in both directions, and every relation that meets another one meets itself, as
// its inverse. With the error it returns the index of a hh edge.
func (g *Graph) check() (int, error) {
	// In increasing order of a, the row of each b gives its relations in its own order.
	next := make([]int, g.relations)
	copy(next, g.offsets)
	for a := range int32(g.relations) {
		itself := false
		for i, b := range g.row(a) {
			if next[b] == g.offsets[b+1] || g.meets[next[b]] > a {
				return g.offsets[a] + i, fmt.Errorf("there is a %v, but none from %d to %d", Edge{0, a, b}, a, b)
			}
			if c := g.meets[next[b]]; c < a { // whose row is without b
				return next[b], fmt.Errorf("there is a %v, but none from %d to %d", Edge{0, b, c}, b, c)
			}
			next[b]++
			itself = itself || a == b
		}
		if len(g.row(a)) > 0 && !itself {
			return g.offsets[a], fmt.Errorf("relation %d has edges, but none to itself", a)
		}
		if inverse := g.inverse(a); (len(g.row(a)) > 0) != (len(g.row(inverse)) > 0) {
			return min(g.offsets[a], len(g.meets)-1), fmt.Errorf("of relation %d and its inverse %d only one has edges", min(a, inverse), max(a, inverse))
		}
	}
	return 0, nil
}
