package propagation

import (
	"fmt"
	"math"
	"sync"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// Weights are a model's parameters laid out for propagation: linear maps transposed, and
// taken apart by PNA's three scalers. They are loaded once per step of the solver and
// shared, read-only, by all propagators.
type Weights struct {
	configuration configuration.Configuration
	relations     int // 2R
	training      bool
	common        []bool       // by degree: whether so many entities have it that a matrix of its own pays
	scalers       [2][]float32 // by degree: PNA's second and third
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
	// maps are the linear map by scaler, [width, dim] each. The receiver's own state, its
	// first dim rows, has the first scaler only. Without PNA there is but one.
	maps       [3][]float32
	transposed [3][]float32 // [dim, width] each, for training only
	bias       []float32    // [dim] or nil, as the next two
	scale      []float32
	shift      []float32
	degree     []float32 // [dim] or nil
	relation   []float32 // [2R, dim], where relation embeddings do not depend on the query
	// relationTwice and degreeTwice are relation (not for training) and degree for two queries
	// side by side: every row is there twice.
	relationTwice, degreeTwice []float32

	relationMap []float32 // [2R dim, dim], where they do
	relationMix []float32 // each relation's part of it transposed, [2R, dim, dim], but for training: see Embed
	relationAdd []float32 // [2R dim]
}

// NewWeights returns weights for a model of configuration c over g, to be filled by Load.
// Only weights made for training serve a propagator's Backward.
func NewWeights(g *graph.Graph, c configuration.Configuration, training bool) *Weights {
	w := &Weights{configuration: c, relations: g.RelationCount(), training: training, layers: make([]layerWeights, c.Layers)}
	if c.Aggregate == configuration.AggregatePNA {
		w.scaleDegrees(g)
	}
	return w
}

// fewest is how many entities must have a degree for a matrix of its own: to make one takes
// as long as the other scalers' products do for some four rows, of which a layer updates
// those of a few of the entities.
const fewest = 4

// scaleDegrees computes the scalers of all degrees, and which are common. What is common
// depends on the graph alone: entities that are reached alike must come out alike.
func (w *Weights) scaleDegrees(g *graph.Graph) {
	var counts []int
	for o := range int32(g.Entities) {
		degree := g.Degree(o)
		for len(counts) <= degree {
			counts = append(counts, 0)
		}
		counts[degree]++
	}
	for degree, count := range counts {
		amplify, attenuate := scalers(degree, g.MeanLogDegree)
		w.common = append(w.common, count >= fewest)
		w.scalers[0], w.scalers[1] = append(w.scalers[0], amplify), append(w.scalers[1], attenuate)
	}
}

// scalers are PNA's second and third for a degree: c = log(degree + 1) / D and 1 / max(c, 0.01).
// In a graph without edges D is 0, and so is c.
func scalers(degree int, meanLogDegree float64) (amplify, attenuate float32) {
	scale := 0.0
	if meanLogDegree > 0 {
		scale = math.Log(float64(degree)+1) / meanLogDegree
	}
	return float32(scale), float32(1 / max(scale, 0.01))
}

// scaler is PNA's second (k = 1) or third (k = 2) for a degree.
func (w *Weights) scaler(degree int32, k int) float32 { return w.scalers[k-1][degree] }

// Load lays out p. It fails where p is not a set of parameters for these weights.
func (w *Weights) Load(k kernel.Kernel, p *parameters.Set[float32]) error {
	for _, shape := range parameters.Layout(w.configuration, w.relations) {
		if data := p.Data(shape.Name); len(data) != shape.Size() {
			return fmt.Errorf("loading weights: %s has %d values, the configuration wants %v", shape.Name, len(data), shape.Shape)
		}
	}
	w.forget()
	w.query = p.Data("query.weight")
	var layers sync.WaitGroup // each writes its own arrays only
	for t := range w.layers {
		layers.Go(func() { w.loadLayer(k, t, p) })
	}
	layers.Wait()
	if w.configuration.Prioritized() {
		w.priority = loadPriority(k, w.configuration.Dim, p, w.priority)
	}
	return nil
}

func (w *Weights) loadLayer(k kernel.Kernel, t int, p *parameters.Set[float32]) {
	layer, d := &w.layers[t], w.configuration.Dim
	layer.bias = p.Layer(t+1, "linear.bias")
	layer.scale, layer.shift = p.Layer(t+1, "layer_norm.weight"), p.Layer(t+1, "layer_norm.bias")
	layer.degree = p.Layer(t+1, "degree")
	layer.relation = p.Layer(t+1, "relation.weight")
	layer.relationMap = p.Layer(t+1, "relation_linear.weight")
	layer.relationAdd = p.Layer(t+1, "relation_linear.bias")
	if layer.relationMap != nil && !w.training {
		layer.relationMix = grow(layer.relationMix, len(layer.relationMap))
		for at := 0; at < len(layer.relationMap); at += d * d {
			k.Transpose(layer.relationMix[at:at+d*d], layer.relationMap[at:at+d*d], d, d)
		}
	}
	w.splitLinear(layer, p.Layer(t+1, "linear.weight"))
	layer.degreeTwice = twice(layer.degreeTwice, layer.degree, d)
	if !w.training {
		layer.relationTwice = twice(layer.relationTwice, layer.relation, d)
	}
	if w.training {
		for scaler, part := range layer.maps {
			if part != nil {
				layer.transposed[scaler] = grow(layer.transposed[scaler], len(part))
				k.Transpose(layer.transposed[scaler], part, w.width(), d)
			}
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
	for k := range w.scalerCount() {
		layer.maps[k] = cleared(layer.maps[k], w.width()*d)
	}
	for i := range d {
		row := weight[i*columns : (i+1)*columns]
		for j := range d {
			layer.maps[0][j*d+i] = row[j]
		}
		for u, value := range row[d:] {
			feature, k := w.feature(u)
			layer.maps[k][(d+feature)*d+i] = value
		}
	}
}

// scalerCount is the number of scalers: PNA has three.
func (w *Weights) scalerCount() int {
	if w.configuration.Aggregate == configuration.AggregatePNA {
		return 3
	}
	return 1
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
