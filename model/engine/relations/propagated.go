package relations

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// propagated is the source whose embeddings are states of a propagation between relations, along the edges of their
// graph: it starts with ones at the base relation of the query, for queries of either direction, and has a state for
// every relation. The state of the query's relation is its embedding, and a map of two layers makes the rows of a table
// from all states. No parameter belongs to a relation.
type propagated struct {
	graph   *graph.Graph
	dim     int
	kernel  kernel.Kernel
	senders kernel.Senders

	layers []layer        // of the propagation
	types  [][]float32    // by layer, rows that its messages are multiplied by, [types, dim]
	maps   [][2]linearMap // by layer of the entities, from a state to a row

	mutex   sync.Mutex
	kept    int               // number of base relations whose states are kept; another one, which is not prepared, replaces the oldest
	shared  map[int32]*states // by base relation
	ordered []int32           // the base relations, in the order in which they were added
	idle    sync.Pool         // of *relationWorker

	// Of Backward: the gradients of the parameters by base relation, in the layout of the parameters.
	gradients []*parameters.Set[float32]
}

// leastKept is the number of base relations whose states are kept, unless more of them take at most keptBytes.
const (
	leastKept = 8
	keptBytes = 32 << 20
)

// states are the embeddings that queries of a base relation share. They are not changed once made.
type states struct {
	once   sync.Once   // makes them
	final  []float32   // of all relations, [2R, dim]
	tables [][]float32 // by layer; a row has what the state of the inverse relation gives, since a message along an edge is multiplied by that
}

// newPropagated returns the source over the relations of g, whose graph is given.
func newPropagated(g *graph.Graph, over *Graph, c configuration.Configuration) *propagated {
	size := max(1, 4*g.RelationCount()*c.Dim*(c.Layers+1))
	return &propagated{
		graph: g, dim: c.Dim, senders: over.Senders(), kept: max(leastKept, keptBytes/size),
		layers: make([]layer, c.RelationLayers), types: make([][]float32, c.RelationLayers), maps: make([][2]linearMap, c.Layers),
		shared: map[int32]*states{},
	}
}

// layerName and mapName return the beginning of the names of a layer's parameters, and the name of a map.
func layerName(t int) string { return fmt.Sprintf(parameters.RelationPart+"layers.%d.", t) }
func mapName(t, i int) string {
	return fmt.Sprintf(parameters.EntityPart+"layers.%d.relation_projection.%d", t, 2*i)
}

// Load reads the parameters, and forgets the states.
func (s *propagated) Load(k kernel.Kernel, p *parameters.Set[float32]) {
	s.kernel, s.ordered = k, s.ordered[:0]
	clear(s.shared)
	for t := range s.layers {
		s.layers[t], s.types[t] = newLayer(k, p, layerName(t)), p.Data(layerName(t)+"relation.weight")
	}
	for t := range s.maps {
		for i := range s.maps[t] {
			s.maps[t][i] = newLinearMap(k, p, mapName(t, i))
		}
	}
}

// Group is one for the relations whose states are kept together, so that the queries of a source follow each other.
func (s *propagated) Group(relation int32) int32 { return s.base(relation) / int32(s.kept) }

// base returns the base relation, whose states both of its directions share.
func (s *propagated) base(relation int32) int32 { return relation % int32(s.graph.BaseRelations) }

// Prepare computes the states of the batch's base relations, keeps those that it has, and drops all others.
func (s *propagated) Prepare(queries []int32) {
	var missing []int32
	bases, positions := s.byBase(queries)
	s.ordered = slices.DeleteFunc(s.ordered, func(base int32) bool {
		if positions[base] == nil {
			delete(s.shared, base)
		}
		return positions[base] == nil
	})
	for _, base := range bases {
		if s.shared[base] == nil {
			missing = append(missing, base)
		}
	}
	for _, base := range missing {
		s.keep(base)
	}
	parallel.Workers(runtime.GOMAXPROCS(0), len(missing), func(_, task int) { s.of(missing[task]) })
}

// byBase returns the base relations of queries, in the order of first use, and the positions of their queries.
func (s *propagated) byBase(queries []int32) (bases []int32, positions map[int32][]int) {
	positions = map[int32][]int{}
	for i, relation := range queries {
		if relation < 0 || int(relation) >= s.graph.RelationCount() {
			continue
		}
		base := s.base(relation)
		if positions[base] == nil {
			bases = append(bases, base)
		}
		positions[base] = append(positions[base], i)
	}
	return bases, positions
}

// keep adds the states of a base relation, to be made when they are first used.
func (s *propagated) keep(base int32) *states {
	s.shared[base] = &states{}
	s.ordered = append(s.ordered, base)
	return s.shared[base]
}

// of returns the states for queries of a relation. Those that are not prepared take the place of the oldest, unless
// fewer are kept than may be.
func (s *propagated) of(relation int32) *states {
	base := s.base(relation)
	s.mutex.Lock()
	found := s.shared[base]
	if found == nil {
		if len(s.ordered) >= s.kept {
			delete(s.shared, s.ordered[0])
			s.ordered = s.ordered[1:]
		}
		found = s.keep(base)
	}
	s.mutex.Unlock()
	found.once.Do(func() { s.with(func(w *relationWorker) { w.states(base, found) }) })
	return found
}

// with calls work with a worker of its own.
func (s *propagated) with(work func(w *relationWorker)) {
	w, _ := s.idle.Get().(*relationWorker)
	if w == nil {
		w = newRelationWorker(s)
	}
	work(w)
	s.idle.Put(w)
}

func (s *propagated) Query(relation int32) []float32 {
	return row(s.of(relation).final, s.dim, relation)
}

// States returns the states of all relations for queries of a base relation, [2R, dim], a view.
func (s *propagated) States(base int32) []float32 { return s.of(base).final }

// Tables returns the tables by layer.
func (s *propagated) Tables(relation int32, _ *Buffers) [][]float32 { return s.of(relation).tables }

// Backward sets the parameters' gradients to the sum over the batch. Workers take a base relation each; the sums follow
// the order of the queries.
func (s *propagated) Backward(queries []int32, batch []Gradient, into *parameters.Set[float32]) {
	bases, positions := s.byBase(queries)
	for len(s.gradients) < len(bases) {
		s.gradients = append(s.gradients, parameters.NewSet[float32](parameters.OfSource(into)))
	}
	parallel.Workers(runtime.GOMAXPROCS(0), len(bases), func(_, task int) {
		for _, tensor := range s.gradients[task].Tensors {
			clear(tensor.Data)
		}
		s.with(func(w *relationWorker) {
			w.backward(bases[task], positions[bases[task]], queries, batch, s.gradients[task])
		})
	})
	if len(bases) == 0 {
		return
	}
	for i, tensor := range s.gradients[0].Tensors {
		sum := into.Data(tensor.Name)
		clear(sum)
		for _, gradient := range s.gradients[:len(bases)] { // in the order of the queries
			s.kernel.Add(sum, gradient.Tensors[i].Data)
		}
	}
}

// relationWorker computes the states of one base relation at a time.
type relationWorker struct {
	source  *propagated
	layers  *stack
	ones    []float32
	crossed []float32 // the states in the order of the tables, [2R, dim]
	hidden  []float32 // of a map, [2R, dim]

	// Gradients of a table, of hidden, of crossed, and of the boundary, which is constant: its gradient is not used.
	gradTable, gradHidden, gradCrossed, gradInitial []float32
}

// newRelationWorker returns a worker whose buffers hold states of all relations.
func newRelationWorker(s *propagated) *relationWorker {
	n, d := s.graph.RelationCount(), s.dim
	w := &relationWorker{
		source: s, layers: newStack(s.kernel, s.senders, n, d, len(s.layers)),
		ones: make([]float32, d), crossed: make([]float32, n*d), hidden: make([]float32, n*d),
	}
	fillRows(w.ones, []float32{1})
	return w
}

// propagate computes the states from a base relation, after each layer.
func (w *relationWorker) propagate(base int32) {
	s := w.source
	w.layers.start(base, w.ones)
	for t := range s.layers {
		w.layers.forward(t+1, &s.layers[t], s.types[t])
	}
	w.cross(w.crossed, w.layers.after(len(s.layers)))
}

// cross copies each row of a table to the row of the inverse relation.
func (w *relationWorker) cross(to, from []float32) {
	g, d := w.source.graph, w.source.dim
	for r := range int32(g.RelationCount()) {
		copy(row(to, d, g.Inverse(r)), row(from, d, r))
	}
}

// states makes the states and tables for queries of a base relation.
func (w *relationWorker) states(base int32, made *states) {
	s, n := w.source, w.source.graph.RelationCount()
	w.propagate(base)
	made.final, made.tables = append([]float32(nil), w.layers.after(len(s.layers))...), make([][]float32, len(s.maps))
	for t := range s.maps {
		made.tables[t] = make([]float32, n*s.dim)
		w.hide(&s.maps[t][0])
		s.maps[t][1].apply(s.kernel, made.tables[t], w.hidden, n)
	}
}

// hide sets hidden to the ReLU of a map of the states.
func (w *relationWorker) hide(first *linearMap) {
	k := w.source.kernel
	first.apply(k, w.hidden, w.crossed, w.source.graph.RelationCount())
	k.ReLU(w.hidden, w.hidden)
}

// backward adds the gradients of the queries of a base relation, given by their positions in a batch.
func (w *relationWorker) backward(base int32, positions []int, queries []int32, batch []Gradient, into *parameters.Set[float32]) {
	s, k, n := w.source, w.source.kernel, w.source.graph.RelationCount()*w.source.dim
	w.propagate(base) // again: only one base relation's layers are kept
	w.gradTable, w.gradHidden = parallel.Resize(w.gradTable, n), parallel.Resize(w.gradHidden, n)
	w.gradCrossed, w.gradInitial = parallel.Cleared(w.gradCrossed, n), parallel.Resize(w.gradInitial, s.dim)
	for t := range s.maps {
		clear(w.gradTable)
		for _, i := range positions {
			k.Add(w.gradTable, batch[i].Tables[t])
		}
		first, second := newMapGradients(into, mapName(t, 0)), newMapGradients(into, mapName(t, 1))
		w.hide(&s.maps[t][0])
		s.maps[t][1].backward(k, &second, w.hidden, w.gradTable, w.gradHidden, false)
		k.ReLUBackward(w.gradHidden, w.hidden, w.gradHidden)
		s.maps[t][0].backward(k, &first, w.crossed, w.gradHidden, w.gradCrossed, true)
	}
	gradStates := w.layers.beginBackward()
	w.cross(gradStates, w.gradCrossed)
	for _, i := range positions {
		k.Add(row(gradStates, s.dim, queries[i]), batch[i].Query)
	}
	for t := len(s.layers); t >= 1; t-- {
		gradients := newLayerGradients(into, layerName(t-1))
		w.layers.backward(t, &s.layers[t-1], &gradients, s.types[t-1], into.Data(layerName(t-1)+"relation.weight"), w.gradInitial)
	}
}
