package incidence

import (
	"slices"

	"tagnet/model/graph"
	"tagnet/model/internal/buffer"
	"tagnet/model/internal/stack"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// Incidences lists for each entity of a graph the distinct relations that leave it. It takes 4 bytes for each of them.
type Incidences struct {
	graph     *graph.Graph
	offsets   []int
	relations []int32
}

// Of returns the incidences of a graph.
func Of(g *graph.Graph) *Incidences {
	list := &Incidences{graph: g, offsets: make([]int, 1, g.Entities+1)}
	var own []int32
	for o := range int32(g.Entities) {
		own = list.Without(own[:0], o, graph.Removal{})
		list.relations = append(list.relations, own...)
		list.offsets = append(list.offsets, len(list.relations))
	}
	list.relations = slices.Clip(list.relations)
	return list
}

// Of returns the distinct relations that leave an entity, ascending, which callers must not change.
func (l *Incidences) Of(o int32) []int32 { return l.relations[l.offsets[o]:l.offsets[o+1]] }

// Without appends the distinct relations that leave an entity in the graph without some edges, ascending.
func (l *Incidences) Without(to []int32, o int32, removal graph.Removal) []int32 {
	senders, relations := l.graph.In(o) // each edge that enters has an inverse that leaves
	for i, r := range relations {
		if !removal.Removes(senders[i], r, o) {
			to = append(to, l.graph.Inverse(r))
		}
	}
	slices.Sort(to)
	return slices.Compact(to)
}

// Name begins the names of the parameters of the states.
const Name = parameters.EntityPart + parameters.IncidencePart

// Worker computes states, with buffers of its own. It is not for concurrent use.
type Worker struct {
	kernel kernel.Kernel
	list   *Incidences
	dim    int

	entities [][]int32  // the relations of each entity of the last Forward, views
	kept     [2][]int32 // those of the ends of removed edges
	index    []int32    // 0, 1, 2, ..
	sums     []float32  // [n, dim]
	update   kernel.NodeUpdate
	linear   []float32 // gradient of the linear map's output, and of its input
	bySums   []float32
}

// NewWorker returns a worker for states of dim dimensions.
func NewWorker(k kernel.Kernel, list *Incidences, dim int) *Worker {
	return &Worker{kernel: k, list: list, dim: dim}
}

// Forward sets states, [n, dim], to those of n entities in the graph without the edges of a removal, given the rows of relations,
// [2R, dim].
func (w *Worker) Forward(layer *stack.Layer, rows []float32, removal graph.Removal, entities []int32, states []float32) {
	n, d := len(entities), w.dim
	w.gather(removal, entities)
	w.sums = buffer.Cleared(w.sums, n*d)
	for i, own := range w.entities {
		sum := w.sums[i*d : (i+1)*d]
		for _, r := range own {
			w.kernel.Add(sum, stack.Row(rows, d, r))
		}
	}
	for len(w.index) < n {
		w.index = append(w.index, int32(len(w.index)))
	}
	w.update = kernel.NodeUpdate{
		Dim: d, Rows: w.index[:n], LinearRows: w.index[:n], Bias: layer.Bias, Scale: layer.Scale, Shift: layer.Shift, Output: states,
		Linear: buffer.Resize(w.update.Linear, n*d), InverseDeviation: buffer.Resize(w.update.InverseDeviation, n),
	}
	w.kernel.Multiply(w.update.Linear, w.sums, layer.Matrix, n, d, d, false)
	w.kernel.Normalize(&w.update)
}

// gather sets the relations of each entity.
func (w *Worker) gather(removal graph.Removal, entities []int32) {
	w.entities = w.entities[:0]
	ends := [2]int32{removal.Source, removal.Answer}
	for i := range ends {
		if removal.Active {
			w.kept[i] = w.list.Without(w.kept[i][:0], ends[i], removal)
		}
	}
	for _, o := range entities {
		own := w.list.Of(o)
		if end := slices.Index(ends[:], o); removal.Active && end >= 0 {
			own = w.kept[end]
		}
		w.entities = append(w.entities, own)
	}
}

// Backward propagates the gradient of the states of the last Forward, [n, dim]. It sets the gradients of the layer's parameters and of
// the rows of relations.
func (w *Worker) Backward(layer *stack.Layer, gradient []float32, into *stack.LayerGradients, rows []float32) {
	n, d := len(w.entities), w.dim
	for _, of := range [][]float32{into.Weight, into.Bias, into.Scale, into.Shift, rows} {
		clear(of)
	}
	w.linear, w.bySums = buffer.Resize(w.linear, n*d), buffer.Resize(w.bySums, n*d)
	w.kernel.NormalizeBackward(&w.update, gradient, &kernel.NodeUpdateGradients{Linear: w.linear, Bias: into.Bias, Scale: into.Scale, Shift: into.Shift})
	w.kernel.MultiplyTransposed(into.Weight, w.linear, w.sums, n, d, d, false)
	w.kernel.Multiply(w.bySums, w.linear, layer.Stored, n, d, d, false)
	for i, own := range w.entities {
		for _, r := range own {
			w.kernel.Add(stack.Row(rows, d, r), w.bySums[i*d:(i+1)*d])
		}
	}
}
