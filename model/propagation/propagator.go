package propagation

import (
	"fmt"
	"math"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/window"
)

// Query is one question (source, relation, ?) and the graph it is asked in.
type Query struct {
	Source, Relation int32
	// Removal is what is not in the query's graph.
	Removal graph.Removal
	// Candidates are the entities whose final states will be read: within a window, only what
	// they are made of is computed. Nil stands for all entities.
	Candidates []int32
	// Training keeps what Backward needs, and drops out.
	Training bool
	// Seed decides what is dropped out.
	Seed uint64
}

// mostEdges and mostEntities are how large a graph may be: messages of a query are counted as
// int32, and so are rows of up to two tables of states before one's own.
const (
	mostEdges    = math.MaxInt32
	mostEntities = math.MaxInt32 / 2
)

// Propagator answers queries one after the other. It owns every buffer that this takes and
// keeps them, so a query allocates nothing once the largest has been seen. It is not for
// concurrent use: each worker has its own.
//
// Memory for n reached entities of V and a window of delta: 8 · V · dim bytes of states, of which
// n / V are touched; training holds 4 · (delta+1) · V · dim, as much again of gradients, and
// 4 · (delta+1) · n · (width + dim) bytes for the way back. The policy full has layers+1 tables
// instead.
type Propagator struct {
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	message       kernel.Message
	reduction     kernel.Reduction
	dropout       dropout
	layout        *window.Layout

	weights   *Weights
	query     Query
	lanes     int         // queries that are propagated side by side: 1 or 2
	asked     [2]int32    // the relation of each
	embedding []float32   // of the queries, [lanes, dim]
	relations [][]float32 // embeddings by layer, [2R, lanes, dim]
	mixed     [][]float32 // buffers for those that depend on the query
	beside    [][]float32 // buffers for those of two queries side by side
	degrees   [][]float32 // degree messages by layer, once for each lane

	states    tables    // [V, lanes, dim] each
	gradients tables    // of states
	divisor   []float32 // 1 / (degree + 1) by row
	copies    []float32 // of the degree message, by row
	needed    needed
	pass      pass
	firstRows []int  // where each layer's updates begin in memory, [layers+1]
	memory    memory // what the way back needs of each row
	linear    linear
	scratch   scratch
	astar     *astar
	distances distances   // for policies other than window
	final     [][]float32 // see Reached
	apart     [][]float32 // one lane's final states, by place in final
	laidOut   bool        // the layout is that of the last query
	sent      int64
	updated   int64
	phases    *Phases
}

// New returns a propagator over g for a model of configuration c.
func New(g *graph.Graph, c configuration.Configuration, k kernel.Kernel) *Propagator {
	return newPropagator(g, c, k, window.NewLayout(g, k, nil))
}

func newPropagator(g *graph.Graph, c configuration.Configuration, k kernel.Kernel, layout *window.Layout) *Propagator {
	p := &Propagator{
		graph: g, configuration: c, kernel: k,
		message: messageOf(c.Message), reduction: reductionOf(c.Aggregate),
		dropout:   newDropout(c.Dropout),
		layout:    layout,
		embedding: make([]float32, 2*c.Dim),
		beside:    make([][]float32, c.Layers),
		degrees:   make([][]float32, c.Layers),
		relations: make([][]float32, c.Layers),
		mixed:     make([][]float32, c.Layers),
		firstRows: make([]int, c.Layers+1),
	}
	if c.Prioritized() {
		p.astar = newAStar(p)
	}
	return p
}

// Sibling returns another propagator like p that shares what does not change.
func (p *Propagator) Sibling() *Propagator {
	return newPropagator(p.graph, p.configuration, p.kernel, window.NewLayout(p.graph, p.kernel, p.layout))
}

func messageOf(name string) kernel.Message {
	switch name {
	case configuration.MessageTransE:
		return kernel.TransE
	case configuration.MessageRotatE:
		return kernel.RotatE
	}
	return kernel.DistMult
}

func reductionOf(name string) kernel.Reduction {
	switch name {
	case configuration.AggregateSum:
		return kernel.Sum
	case configuration.AggregateMean:
		return kernel.Mean
	case configuration.AggregateMax:
		return kernel.Max
	}
	return kernel.PNA
}

// Forward propagates from the query's source. The states stay until the next call.
func (p *Propagator) Forward(w *Weights, q Query) error {
	return p.propagate(w, q, 1, [2]int32{q.Relation})
}

// Pairs tells whether ForwardPair takes less time than Forward twice, which needs no second
// search either: within a window, with a kernel that reduces two queries' messages together.
func (p *Propagator) Pairs() bool {
	return p.windowed() && p.kernel.Pairs(p.message, p.reduction, p.configuration.Dim)
}

func (p *Propagator) windowed() bool { return p.configuration.Policy == configuration.PolicyWindow }

// ForwardPair propagates two queries side by side, q and the same source's about another
// relation. Every message's sender is looked up once for both, every matrix made once. Each
// has bit for bit the states that Forward gives it.
func (p *Propagator) ForwardPair(w *Weights, q Query, other int32) error {
	if !p.windowed() || q.Training {
		return fmt.Errorf("propagating a pair: that is for scoring within a window alone")
	}
	return p.propagate(w, q, 2, [2]int32{q.Relation, other})
}

func (p *Propagator) propagate(w *Weights, q Query, lanes int, asked [2]int32) error {
	if err := p.check(w, q, asked[:lanes]); err != nil {
		return err
	}
	sameRemoval := p.laidOut && q.Removal == p.query.Removal && q.Training == p.query.Training
	same := sameRemoval && q.Source == p.query.Source
	p.distances.current = p.distances.current && same
	p.weights, p.query, p.sent, p.updated = w, q, 0, 0
	p.lanes, p.asked = lanes, asked
	p.linear.parts = nil // the weights may have changed
	p.embed()
	switch {
	case p.configuration.Prioritized():
		p.astar.forward()
	case p.configuration.Policy == configuration.PolicyFull:
		p.forwardFull(sameRemoval)
	default:
		p.forwardWindow(same)
	}
	p.laidOut = true
	return nil
}

// embed looks up the embeddings of the queries and, by layer, of the relations.
func (p *Propagator) embed() {
	w, d := p.weights, p.configuration.Dim
	for lane, relation := range p.asked[:p.lanes] {
		copy(p.embedding[lane*d:(lane+1)*d], w.Query(relation))
	}
	p.embedding = p.embedding[:p.row()]
	for t := range p.relations {
		p.degrees[t] = w.layers[t].degree
		if p.configuration.Dependent {
			p.mixed[t] = grow(p.mixed[t], w.relations*d)
		}
		p.relations[t] = w.relationEmbeddings(p.kernel, t, p.asked[0], p.mixed[t])
		if p.lanes == 2 {
			p.embedBeside(t)
		}
	}
}

// embedBeside puts the second query's relation embeddings beside the first's.
func (p *Propagator) embedBeside(t int) {
	w, d := p.weights, p.configuration.Dim
	layer := &w.layers[t]
	p.degrees[t] = layer.degreeTwice
	if layer.relationTwice != nil {
		p.relations[t] = layer.relationTwice
		return
	}
	p.beside[t] = grow(p.beside[t], 2*w.relations*d)
	interleave(p.beside[t], p.relations[t], 0, d)
	interleave(p.beside[t], w.relationEmbeddings(p.kernel, t, p.asked[1], p.mixed[t]), 1, d)
	p.relations[t] = p.beside[t]
}

// interleave copies rows of d to one lane of rows of two.
func interleave(both, one []float32, lane, d int) {
	for i := 0; i < len(one); i += d {
		copy(both[2*i+lane*d:2*i+(lane+1)*d], one[i:i+d])
	}
}

// twice gives both lanes the same rows of d.
func twice(both, one []float32, d int) []float32 {
	if one == nil {
		return nil
	}
	both = grow(both, 2*len(one))
	interleave(both, one, 0, d)
	interleave(both, one, 1, d)
	return both
}

// row is the length of a state table's row: all lanes'.
func (p *Propagator) row() int { return p.lanes * p.configuration.Dim }

func (p *Propagator) check(w *Weights, q Query, asked []int32) error {
	if w.configuration != p.configuration || w.relations != p.graph.RelationCount() {
		return fmt.Errorf("propagating: the weights are those of another configuration or number of relations (%d, want %d)", w.relations, p.graph.RelationCount())
	}
	if p.graph.Edges() > mostEdges || p.graph.Entities > mostEntities {
		return fmt.Errorf("propagating: a graph of %d edges and %d entities is too large, at most %d and %d can be", p.graph.Edges(), p.graph.Entities, mostEdges, mostEntities)
	}
	if q.Source < 0 || int(q.Source) >= p.graph.Entities {
		return fmt.Errorf("propagating: source %d is outside 0..%d", q.Source, p.graph.Entities-1)
	}
	for _, relation := range asked {
		if relation < 0 || int(relation) >= w.relations {
			return fmt.Errorf("propagating: relation %d is outside 0..%d", relation, w.relations-1)
		}
	}
	if q.Training && !w.training {
		return fmt.Errorf("propagating: the weights were not made for training")
	}
	return nil
}

// Sent is the number of messages that the last Forward sent: those admitted, without the
// empty ones unless they are not zero (TransE).
func (p *Propagator) Sent() int64 { return p.sent }

// Updated is the number of entities that the last Forward updated, summed over its layers.
func (p *Propagator) Updated() int64 { return p.updated }

// Depth is the number of states that a candidate may have: 1, or one of each age where the
// final state is an attention over the window's.
func (p *Propagator) Depth() int {
	return p.configuration.States()
}

// Width is the number of values of a candidate's state: dim, or 1 for A*Net's policies,
// whose states come scored.
func (p *Propagator) Width() int {
	if p.configuration.Prioritized() {
		return 1
	}
	return p.configuration.Dim
}

// Candidates copies the final states of entities to states, [n, Depth, Width], oldest age
// last, and how many of them each has to valid, [n]: 0 for one that was not reached, whose
// states are zeros.
func (p *Propagator) Candidates(entities []int32, states []float32, valid []int32) {
	if p.astar != nil {
		p.astar.candidates(entities, states, valid)
		return
	}
	d, depth := p.configuration.Dim, p.Depth()
	clear(states[:len(entities)*depth*d])
	for i, entity := range entities {
		first, last, row := p.ages(entity)
		valid[i] = int32(last - first + 1)
		for age := first; age <= last; age++ {
			at := (i*depth + age - first) * d
			copy(states[at:at+d], p.statesOf(row, age)[row*d:(row+1)*d])
		}
	}
}

// ages returns which tables hold the states that a candidate's final state is made of, none
// where last < first, and its row in them.
func (p *Propagator) ages(entity int32) (first, last, row int) {
	row = int(p.layout.Find(entity))
	if p.configuration.Policy == configuration.PolicyFull {
		return p.configuration.Layers, p.configuration.Layers, row
	}
	if row == kernel.Unreached {
		return 0, -1, 0
	}
	last = min(p.configuration.Delta, p.configuration.Layers-p.layout.Distance(int32(row)))
	if !p.configuration.Specific() {
		first = last
	}
	return first, last, row
}

// statesOf is the table that has the state of an age of the entity in a row, at the end.
func (p *Propagator) statesOf(row, age int) []float32 {
	if p.configuration.Policy == configuration.PolicyFull {
		return p.states.each[age]
	}
	return p.states.each[p.table(p.layout.Distance(int32(row))+age, age)]
}

// Backward takes the gradient of the candidates' states, laid out as Candidates gives them,
// back through the last Forward, which must have been training. It sets into, but for what
// Sum adds.
func (p *Propagator) Backward(entities []int32, gradient []float32, into *Gradients) error {
	if !p.query.Training {
		return fmt.Errorf("propagating backward: the query was not training")
	}
	into.zero()
	if p.astar != nil {
		p.astar.backward(entities, gradient, into)
	} else {
		p.seed(entities, gradient)
		if p.configuration.Policy == configuration.PolicyFull {
			p.backwardFull(into)
		} else {
			p.backwardWindow(into)
		}
	}
	return nil
}

// seed puts the gradient of the candidates' states into the tables of gradients. An entity
// may be a candidate several times.
func (p *Propagator) seed(entities []int32, gradient []float32) {
	d, depth := p.configuration.Dim, p.Depth()
	p.gradients.grow(len(p.states.each), p.states.before, p.states.rows, d)
	p.clearGradients()
	for i, entity := range entities {
		first, last, row := p.ages(entity)
		for age := first; age <= last; age++ {
			at := (i*depth + age - first) * d
			p.kernel.Add(p.gradients.each[age][row*d:(row+1)*d], gradient[at:at+d])
		}
	}
}

// Reached visits every entity that the last Forward reached, some at a time, in groups that
// share the ages of the states their final state is made of: states has a table
// [len(entities), dim] of each, oldest last (one, unless delta is specific). Of a pair, lane
// 0 or 1 says whose states. It does not serve A*Net's policies.
func (p *Propagator) Reached(lane int, visit func(entities []int32, states [][]float32)) {
	const most = 512 // few enough for what is done with them to stay in the second-level cache
	for level := range len(p.layout.Levels) - 1 {
		lo, hi := int(p.layout.Levels[level]), int(p.layout.Levels[level+1])
		for ; lo < hi; lo += most {
			end := min(lo+most, hi)
			visit(p.layout.Entities[lo:end], p.finalStates(lane, lo, end))
		}
	}
}

// finalStates are the tables of rows lo to hi, all of one level, in one lane.
func (p *Propagator) finalStates(lane, lo, hi int) [][]float32 {
	row := p.row()
	first, last, _ := p.ages(p.layout.Entities[lo])
	p.final = p.final[:0]
	for age := first; age <= last; age++ {
		table := p.statesOf(lo, age)[lo*row : hi*row]
		if p.lanes > 1 {
			table = p.laneApart(age-first, lane, table)
		}
		p.final = append(p.final, table)
	}
	return p.final
}

// laneApart copies one lane of some states to the buffer of a place in final: levels whose
// final states are of different ages share it.
func (p *Propagator) laneApart(place, lane int, states []float32) []float32 {
	for len(p.apart) <= place {
		p.apart = append(p.apart, nil)
	}
	d, row := p.configuration.Dim, p.row()
	apart := grow(p.apart[place], len(states)/p.lanes)
	p.apart[place] = apart
	for i := range len(apart) / d {
		copy(apart[i*d:(i+1)*d], states[i*row+lane*d:])
	}
	return apart
}
