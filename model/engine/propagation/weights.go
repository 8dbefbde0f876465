package propagation

import (
	"fmt"
	"math"
	"runtime"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Weights are a model's parameters laid out for propagation: linear maps transposed, and split by PNA's three scalers.
// They are loaded once per step of the optimizer and shared, read-only, by all propagators.
type Weights struct {
	// Relations is the source of what messages are multiplied by, and of the states that queries start with.
	Relations     relations.Source
	configuration configuration.Configuration
	relationCount int // 2R
	training      bool
	frequent      []bool       // by degree: enough entities have it for a folded matrix
	scalers       [2][]float32 // by degree: PNA's second and third
	layers        []layerWeights
	priority      *priorityWeights
	summation     summation
}

// layerWeights are the weights of one layer.
type layerWeights struct {
	// maps are the linear map by scaler, [width, dim] each. The receiver's previous state, the first
	// dim rows, is under the first scaler only. Without PNA there is one map.
	maps       [3][]float32
	transposed [3][]float32 // [dim, width] each, for training only
	bias       []float32    // [dim] or nil, as the next two
	scale      []float32
	shift      []float32
	degree     []float32 // [dim], empty without degree messages
}

// NewWeights returns weights for a model of configuration c over g, to be filled by Load. Only weights made for
// training serve a propagator's Backward. between is the graph of the relations of g, or nil: the model makes it from g
// if it needs one.
func NewWeights(g *graph.Graph, between *relations.Graph, c configuration.Configuration, training bool) *Weights {
	w := &Weights{
		Relations: relations.New(g, between, c, training), configuration: c, relationCount: g.RelationCount(), training: training,
		layers: make([]layerWeights, c.Layers),
	}
	if c.Aggregate == configuration.AggregatePNA {
		w.scaleDegrees(g)
	}
	return w
}

// minEntities is the number of entities of a degree from which on a matrix is folded for it. Folding
// takes as long as the products under the second and third scaler of about four rows.
const minEntities = 4

// scaleDegrees computes the scalers of all degrees, and which degrees are frequent. That depends on
// the graph alone, so that equivalent states have equal bits.
func (w *Weights) scaleDegrees(g *graph.Graph) {
	for degree, count := range g.DegreeCounts() {
		amplify, attenuate := scalers(degree, g.MeanLogDegree)
		w.frequent = append(w.frequent, count >= minEntities)
		w.scalers[0], w.scalers[1] = append(w.scalers[0], amplify), append(w.scalers[1], attenuate)
	}
}

// scalers returns PNA's second and third scaler of a degree: c = log(degree + 1) / D and 1 / max(c, 0.01).
// In a graph without edges D is 0, and so is c.
func scalers(degree int, meanLogDegree float64) (amplify, attenuate float32) {
	scale := 0.0
	if meanLogDegree > 0 {
		scale = math.Log(float64(degree)+1) / meanLogDegree
	}
	return float32(scale), float32(1 / max(scale, 0.01))
}

// scaler returns PNA's second (k = 1) or third (k = 2) scaler of a degree.
func (w *Weights) scaler(degree int32, k int) float32 { return w.scalers[k-1][degree] }

// Load lays out p. It returns an error if p does not fit the configuration.
func (w *Weights) Load(k kernel.Kernel, p *parameters.Set[float32]) error {
	for _, shape := range parameters.Layout(w.configuration, w.relationCount) {
		if data := p.Data(shape.Name); len(data) != shape.Size() {
			return fmt.Errorf("loading weights: %s has %d values: the configuration wants shape %v", shape.Name, len(data), shape.Shape)
		}
	}
	w.Relations.Load(k, p)
	parallel.Workers(runtime.GOMAXPROCS(0), len(w.layers), func(_, t int) { w.loadLayer(k, t, p) })
	if w.configuration.Prioritized() {
		w.priority = loadPriority(k, w.configuration.Dim, p, w.priority)
	}
	return nil
}

// loadLayer sets the weights of layer t, from 0: its linear map split by scaler, and transposed for training.
func (w *Weights) loadLayer(k kernel.Kernel, t int, p *parameters.Set[float32]) {
	layer, d := &w.layers[t], w.configuration.Dim
	layer.bias = p.Layer(t+1, "linear.bias")
	layer.scale, layer.shift = p.Layer(t+1, "layer_norm.weight"), p.Layer(t+1, "layer_norm.bias")
	w.splitLinear(layer, p.Layer(t+1, "linear.weight"))
	layer.degree = p.Layer(t+1, "degree")
	if w.training {
		for scaler, matrix := range layer.maps {
			if matrix != nil {
				layer.transposed[scaler] = parallel.Resize(layer.transposed[scaler], len(matrix))
				k.Transpose(layer.transposed[scaler], matrix, w.width(), d)
			}
		}
	}
}

// width returns the number of features of a receiver.
func (w *Weights) width() int {
	if w.configuration.Aggregate == configuration.AggregatePNA {
		return 5 * w.configuration.Dim
	}
	return 2 * w.configuration.Dim
}

// feature returns the index in the kernel's features, and the scaler, of an entry of the update
// vector: for PNA entry (j·4 + a)·3 + k is dimension j of aggregator a under scaler k,
// which is entry a·dim + j of the features.
func (w *Weights) feature(entry int) (feature, scaler int) {
	if w.configuration.Aggregate != configuration.AggregatePNA {
		return entry, 0
	}
	return entry/3%4*w.configuration.Dim + entry/12, entry % 3
}

// splitLinear splits the stored weight [dim, dim + update] by scaler and transposes it.
func (w *Weights) splitLinear(layer *layerWeights, weight []float32) {
	d := w.configuration.Dim
	columns := d + w.configuration.UpdateWidth()
	for k := range w.scalerCount() {
		layer.maps[k] = parallel.Cleared(layer.maps[k], w.width()*d)
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

// scalerCount returns the number of scalers: three for PNA, else one.
func (w *Weights) scalerCount() int {
	if w.configuration.Aggregate == configuration.AggregatePNA {
		return 3
	}
	return 1
}
