package propagation

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/parameters"
)

// Weights are a model's parameters laid out for propagation: linear maps transposed, and
// PNA's three scalers folded into one matrix for each degree that the graph has. They are
// loaded once per step of the solver and shared, read-only, by all propagators.
//
// Memory: 4 · layers · degrees · width · dim bytes, twice that for training, where degrees
// counts the distinct degrees of the graph and width is 5 dim for PNA.
type Weights struct {
	configuration configuration.Configuration
	relations     int // 2R
	training      bool
	meanLogDegree float64
	groups        []int32 // of each degree 0..max: the index of its folded matrices, or -1
	degrees       []int32 // of each group
	layers        []layerWeights
	query         []float32 // [2R, dim]
	priority      *priorityWeights
	embedded      map[int32][][]float32 // by relation asked for: its relation embeddings by layer
	spare         [][][]float32         // buffers of embedded that are not in use
	embedding     embedding
	summation     summation
}

// layerWeights are those of one layer.
type layerWeights struct {
	own         []float32    // [dim, dim]: the linear map of the receiver's own state, transposed
	aggregate   [3][]float32 // [width-dim, dim] each: of its features by scaler; only the first but for PNA
	folded      []float32    // [groups, width, dim]
	transposed  []float32    // [groups, dim, width], for training only
	bias        []float32    // [dim] or nil, as the next two
	scale       []float32
	shift       []float32
	degree      []float32 // [dim] or nil
	relation    []float32 // [2R, dim], where relation embeddings do not depend on the query
	relationMap []float32 // [2R dim, dim], where they do
	relationMix []float32 // [dim, 2R dim], its transpose, but for training: see Embed
	relationAdd []float32 // [2R dim]
}

// NewWeights returns weights for a model of configuration c over g, to be filled by Load.
// Only weights made for training serve a propagator's Backward.
func NewWeights(g *graph.Graph, c configuration.Configuration, training bool) *Weights {
	w := &Weights{
		configuration: c, relations: g.RelationCount(), training: training,
		meanLogDegree: g.MeanLogDegree, layers: make([]layerWeights, c.Layers),
	}
	w.groupDegrees(g)
	return w
}

// groupDegrees numbers the distinct degrees of the graph. Without PNA there are no scalers,
// and one matrix serves all.
func (w *Weights) groupDegrees(g *graph.Graph) {
	if w.configuration.Aggregate != configuration.AggregatePNA {
		w.degrees = []int32{0}
		return
	}
	seen := make(map[int32]bool)
	for o := range int32(g.Entities) {
		seen[int32(g.Degree(o))] = true
	}
	for degree := range seen {
		w.degrees = append(w.degrees, degree)
	}
	slices.Sort(w.degrees)
	if len(w.degrees) > 0 {
		w.groups = make([]int32, w.degrees[len(w.degrees)-1]+1)
	}
	for i := range w.groups {
		w.groups[i] = -1
	}
	for group, degree := range w.degrees {
		w.groups[degree] = int32(group)
	}
}

// Load lays out p. It fails where p is not a set of parameters for these weights.
func (w *Weights) Load(p *parameters.Set[float32]) error {
	for _, shape := range parameters.Layout(w.configuration, w.relations) {
		if data := p.Data(shape.Name); len(data) != shape.Size() {
			return fmt.Errorf("loading weights: %s has %d values, the configuration wants %v", shape.Name, len(data), shape.Shape)
		}
	}
	w.forget()
	w.query = p.Data("query.weight")
	var layers sync.WaitGroup // each writes its own arrays only
	for t := range w.layers {
		layers.Go(func() { w.loadLayer(t, p) })
	}
	layers.Wait()
	if w.configuration.Prioritized() {
		w.priority = loadPriority(w.configuration.Dim, p, w.priority)
	}
	return nil
}

func (w *Weights) loadLayer(t int, p *parameters.Set[float32]) {
	layer, d := &w.layers[t], w.configuration.Dim
	layer.bias = p.Layer(t+1, "linear.bias")
	layer.scale, layer.shift = p.Layer(t+1, "layer_norm.weight"), p.Layer(t+1, "layer_norm.bias")
	layer.degree = p.Layer(t+1, "degree")
	layer.relation = p.Layer(t+1, "relation.weight")
	layer.relationMap = p.Layer(t+1, "relation_linear.weight")
	layer.relationAdd = p.Layer(t+1, "relation_linear.bias")
	if layer.relationMap != nil && !w.training {
		layer.relationMix = transpose(grow(layer.relationMix, len(layer.relationMap)), layer.relationMap, w.relations*d, d)
	}
	w.splitLinear(layer, p.Layer(t+1, "linear.weight"))
	width := w.width()
	layer.folded = grow(layer.folded, len(w.degrees)*width*d)
	if w.training {
		layer.transposed = grow(layer.transposed, len(w.degrees)*width*d)
	}
	for group, degree := range w.degrees {
		at := group * width * d
		matrix := layer.folded[at : at+width*d]
		w.fold(layer, degree, matrix)
		if w.training {
			transpose(layer.transposed[at:at+width*d], matrix, width, d)
		}
	}
}

// width is the number of features of a receiver.
func (w *Weights) width() int {
	if w.configuration.Aggregate == configuration.AggregatePNA {
		return 5 * w.configuration.Dim
	}
	return 2 * w.configuration.Dim
}

// feature tells which feature of the aggregate, and which scaler, an entry of the update
// vector is: for PNA entry (j·4 + a)·3 + k is dimension j of aggregator a under scaler k,
// where the features of the kernel have entry a·dim + j.
func (w *Weights) feature(entry int) (feature, scaler int) {
	if w.configuration.Aggregate != configuration.AggregatePNA {
		return entry, 0
	}
	return entry/3%4*w.configuration.Dim + entry/12, entry % 3
}

// splitLinear takes the stored weight [dim, dim + update] apart by scaler, transposed.
func (w *Weights) splitLinear(layer *layerWeights, weight []float32) {
	d := w.configuration.Dim
	columns := d + w.configuration.UpdateWidth()
	layer.own = grow(layer.own, d*d)
	scalers := 1
	if w.configuration.Aggregate == configuration.AggregatePNA {
		scalers = 3
	}
	for k := range scalers {
		layer.aggregate[k] = grow(layer.aggregate[k], (w.width()-d)*d)
	}
	for i := range d {
		row := weight[i*columns : (i+1)*columns]
		for j := range d {
			layer.own[j*d+i] = row[j]
		}
		for u, value := range row[d:] {
			feature, k := w.feature(u)
			layer.aggregate[k][feature*d+i] = value
		}
	}
}

// fold writes the linear map of receivers of one degree, [width, dim].
func (w *Weights) fold(layer *layerWeights, degree int32, matrix []float32) {
	n := copy(matrix, layer.own)
	if w.configuration.Aggregate != configuration.AggregatePNA {
		copy(matrix[n:], layer.aggregate[0])
		return
	}
	amplify, attenuate := w.scalers(degree)
	identity, amplified, attenuated := layer.aggregate[0], layer.aggregate[1], layer.aggregate[2]
	matrix = matrix[n:]
	amplified, attenuated = amplified[:len(matrix)], attenuated[:len(matrix)]
	for i, value := range identity[:len(matrix)] {
		matrix[i] = value + amplify*amplified[i] + attenuate*attenuated[i]
	}
}

// scalers are PNA's second and third for a degree: c = log(degree + 1) / D and 1 / max(c, 0.01).
// In a graph without edges D is 0, and so is c.
func (w *Weights) scalers(degree int32) (amplify, attenuate float32) {
	scale := 0.0
	if w.meanLogDegree > 0 {
		scale = math.Log(float64(degree)+1) / w.meanLogDegree
	}
	return float32(scale), float32(1 / max(scale, 0.01))
}

// group is the index of a degree's folded matrices, or -1: the lowered degree of a removed
// edge's end may be one that no entity of the whole graph has.
func (w *Weights) group(degree int32) int {
	if len(w.degrees) == 1 && w.groups == nil {
		return 0
	}
	if int(degree) >= len(w.groups) {
		return -1
	}
	return int(w.groups[degree])
}

// transpose writes the transpose of a, [rows, columns], to out, and returns it.
func transpose(out, a []float32, rows, columns int) []float32 {
	const block = 16 // both sides of a block stay in the first-level cache
	for i0 := 0; i0 < rows; i0 += block {
		for j0 := 0; j0 < columns; j0 += block {
			for i := i0; i < min(i0+block, rows); i++ {
				for j := j0; j < min(j0+block, columns); j++ {
					out[j*rows+i] = a[i*columns+j]
				}
			}
		}
	}
	return out
}

// grow gives a slice n entries, of any value, without allocating where it is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Query returns the embedding of a relation that is asked for, [dim]. It is a view.
func (w *Weights) Query(relation int32) []float32 {
	d := w.configuration.Dim
	return w.query[int(relation)*d : int(relation+1)*d]
}
