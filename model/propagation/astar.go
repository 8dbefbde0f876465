package propagation

import (
	"math"
	"slices"

	"tagnet/model/internal/buffer"
	"tagnet/model/kernel"
)

// LayerCount counts what A*Net selected in one layer of the last query.
type LayerCount struct {
	// AStar is |A|, the number of edges selected. Kept is the number of them that the window admits,
	// or all without a window. Active is the number of entities they update.
	AStar, Kept, Active int64
}

// astar is A*Net's propagation (arXiv 2206.04798), alone or within a window: in each layer the
// entities of highest priority send, along those of their edges whose heads have the highest.
//
// A layer writes every state that it updates as a new version, with its priority. Version 0 is the
// zero state in which all entities start except the source, version 1 the source's; those of each
// layer follow in the order of its receivers. Memory: 4 · (4 dim + 1) bytes a version, twice that
// while training.
type astar struct {
	propagator *Propagator
	rows       []int32 // 0, 1, 2, ..: the rows of a layer's receivers
	current    []int32 // version of each entity
	versions   int

	states     []float32 // [versions, dim]
	priorities []float32 // [versions]
	inner      []float32 // [versions, dim], see forwardPriority
	hidden     []float32 // [versions, 2 dim]
	query      []float32 // linear's share of x_q, bias included, [dim]

	layers    []astarLayer
	selection selection

	stateGradients    []float32 // [versions, dim]
	priorityGradients []float32 // [versions]
	queryGradient     []float32 // of query, [dim]

	messages, messageGradient, innerGradient, hiddenGradient []float32 // buffers of the score function
	sentGradient, keptGradient, residualGradient             []float32 // of a layer's sent, kept and residual
}

// astarLayer holds the inputs of one layer's update.
type astarLayer struct {
	count    LayerCount
	first    int            // version of its first receiver
	entities []int32        // receivers, by degree
	degrees  []int32        // of the receivers in the query's graph
	previous []int32        // version of each receiver before the update
	senders  []int32        // version of each sender
	sent     []float32      // sigmoid(p) x of the senders, [senders, dim]
	kept     []float32      // sigmoid(p) x of the receivers, [n, dim]
	residual []float32      // x of the receivers, [n, dim]
	divisor  []float32      // 1 / (degree + 1), [n]
	edges    kernel.Senders // all of one kind
}

func newAStar(p *Propagator) *astar {
	return &astar{
		propagator: p, current: make([]int32, p.graph.Entities), layers: make([]astarLayer, p.configuration.Layers),
		query: make([]float32, p.configuration.Dim), queryGradient: make([]float32, p.configuration.Dim),
		selection: newSelection(p.layout.ByDegree()),
	}
}

// LayerCounts returns the counts of the last Forward by layer, or nil for policies without A*Net.
func (p *Propagator) LayerCounts() []LayerCount {
	if p.astar == nil {
		return nil
	}
	counts := make([]LayerCount, len(p.astar.layers))
	for t := range counts {
		counts[t] = p.astar.layers[t].count
	}
	return counts
}

// Priorities sets scores, [V], to the score of every entity after the last Forward.
func (p *Propagator) Priorities(scores []float32) {
	for o, version := range p.astar.current {
		scores[o] = p.astar.priorities[version]
	}
}

// forward propagates the current query.
func (a *astar) forward() {
	a.begin()
	p := a.propagator
	for t := range a.layers {
		layer := &a.layers[t]
		a.selectEdges(t, layer)
		a.extend(len(layer.entities))
		a.gather(layer)
		if p.query.Training {
			p.activations.extend(a.versions-2, p.weights.width(), p.configuration.Dim, p.maskWords())
		}
		p.sent += layer.count.Kept
		a.update(t)
		p.forward(&p.update)
		a.prioritize(layer.first, layer.first+len(layer.entities))
		for i, o := range layer.entities {
			a.current[o] = int32(layer.first + i)
			a.selection.visit(o, a.priorities[layer.first+i])
		}
	}
}

// begin sets versions 0 and 1 and their priorities.
func (a *astar) begin() {
	p := a.propagator
	d, w := p.configuration.Dim, p.weights.priority
	copy(a.query, w.bias)
	p.kernel.Multiply(a.query, p.embeddings.query, w.query, 1, d, d, true)
	a.versions = 0
	a.extend(2)
	clear(a.states[:d])
	copy(a.states[d:2*d], p.embeddings.query)
	a.prioritize(0, 2)
	clear(a.current)
	a.current[p.query.Source] = 1
	a.selection.start(a.priorities[0])
	a.selection.visit(p.query.Source, a.priorities[1])
}

// extend allocates count more versions.
func (a *astar) extend(count int) {
	d := a.propagator.configuration.Dim
	a.versions += count
	a.states = buffer.Extend(a.states, a.versions*d)
	a.inner = buffer.Extend(a.inner, a.versions*d)
	a.hidden = buffer.Extend(a.hidden, a.versions*2*d)
	a.priorities = buffer.Extend(a.priorities, a.versions)
}

// prioritize computes the priorities of versions first to last.
func (a *astar) prioritize(first, last int) {
	d := a.propagator.configuration.Dim
	a.forwardPriority(a.states[first*d:last*d], a.inner[first*d:last*d], a.hidden[2*first*d:2*last*d], a.priorities[first:last])
}

// gather sets the states that a layer sends and keeps, y = sigmoid(p) x, and copies the residual,
// since versions are appended while the layer reads them.
func (a *astar) gather(layer *astarLayer) {
	d := a.propagator.configuration.Dim
	layer.first = a.versions - len(layer.entities)
	layer.sent = buffer.Resize(layer.sent, len(layer.senders)*d)
	for i, version := range layer.senders {
		a.weighted(layer.sent[i*d:(i+1)*d], version)
	}
	layer.kept = buffer.Resize(layer.kept, len(layer.entities)*d)
	layer.residual = buffer.Resize(layer.residual, len(layer.entities)*d)
	layer.previous = buffer.Resize(layer.previous, len(layer.entities))
	for i, o := range layer.entities {
		version := a.current[o]
		layer.previous[i] = version
		a.weighted(layer.kept[i*d:(i+1)*d], version)
		copy(layer.residual[i*d:(i+1)*d], a.states[int(version)*d:])
	}
	layer.divisor = buffer.Resize(layer.divisor, len(layer.entities))
	for i, degree := range layer.degrees {
		layer.divisor[i] = 1 / (float32(degree) + 1)
	}
}

// weighted sets out to a version's state times the sigmoid of its priority.
func (a *astar) weighted(out []float32, version int32) {
	weight := sigmoid(a.priorities[version])
	for j, value := range a.states[int(version)*len(out):][:len(out)] {
		out[j] = weight * value
	}
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// update describes the update of a layer's receivers.
func (a *astar) update(t int) {
	p, layer := a.propagator, &a.layers[t]
	d, n := p.configuration.Dim, len(layer.entities)
	for i := len(a.rows); i < n; i++ {
		a.rows = append(a.rows, int32(i))
	}
	x := &p.update
	*x = layerUpdate{layer: t, groups: x.groups[:0], entities: layer.entities, degrees: layer.degrees, firstRow: layer.first - 2, count: n}
	source := slices.Index(layer.entities, p.query.Source)
	for _, rows := range aroundSource(source, n) {
		group := receiverGroup{rows: a.rows[rows[0]:rows[1]], previous: layer.residual, output: a.states[layer.first*d : (layer.first+n)*d]}
		group.receivers = kernel.Receivers{
			Dim: d, Message: p.message, Reduction: p.reduction,
			Senders: layer.edges, Kinds: 1, States: layer.sent,
			RelationEmbeddings: p.embeddings.relations[t], Previous: layer.kept, MeanFactor: layer.divisor,
		}
		if source >= 0 && rows[0] == source {
			group.receivers.Initial = p.embeddings.query
		}
		x.groups = append(x.groups, group)
	}
}

// candidates copies the scores of entities: an entity's score is its last priority.
func (a *astar) candidates(entities []int32, states []float32, valid []int32) {
	for i, o := range entities {
		states[i], valid[i] = a.priorities[a.current[o]], 1
	}
}

// backward runs the layers in reverse. Gradients flow through the priorities that weight a state, and
// not through the selection.
func (a *astar) backward(entities []int32, gradient []float32, into *Gradients) {
	p := a.propagator
	d := p.configuration.Dim
	a.stateGradients = buffer.Resize(a.stateGradients, a.versions*d)
	a.priorityGradients = buffer.Resize(a.priorityGradients, a.versions)
	clear(a.stateGradients)
	clear(a.priorityGradients)
	clear(a.queryGradient)
	for i, o := range entities {
		a.priorityGradients[a.current[o]] += gradient[i]
	}
	for t := len(a.layers) - 1; t >= 0; t-- {
		layer := &a.layers[t]
		a.prioritizeBackward(layer.first, layer.first+len(layer.entities), into)
		a.layerBackward(t, layer, into)
	}
	a.prioritizeBackward(0, 2, into)
	p.kernel.Add(into.Query, a.stateGradients[d:2*d])
	p.kernel.Add(into.priority.bias, a.queryGradient)
	p.kernel.MultiplyTransposed(into.priority.query, a.queryGradient, p.embeddings.query, 1, d, d, true)
	p.kernel.Multiply(into.Query, a.queryGradient, p.weights.priority.queryStored, 1, d, d, true)
}

func (a *astar) prioritizeBackward(first, last int, into *Gradients) {
	d := a.propagator.configuration.Dim
	a.backwardPriority(a.states[first*d:last*d], a.inner[first*d:last*d], a.hidden[2*first*d:2*last*d],
		a.priorityGradients[first:last], a.stateGradients[first*d:last*d], into)
}

func (a *astar) layerBackward(t int, layer *astarLayer, into *Gradients) {
	p := a.propagator
	d, n := p.configuration.Dim, len(layer.entities)
	a.sentGradient = buffer.Cleared(a.sentGradient, len(layer.sent))
	a.keptGradient = buffer.Cleared(a.keptGradient, n*d)
	a.residualGradient = buffer.Cleared(a.residualGradient, n*d)
	a.update(t)
	for i := range p.update.groups {
		x := &p.update.groups[i]
		x.gradient, x.residual = a.stateGradients[layer.first*d:(layer.first+n)*d], a.residualGradient
		x.setGradients(a.sentGradient, &into.layers[t], into)
		x.gradients.Previous = a.keptGradient
	}
	p.backward(&p.update, &into.layers[t])
	for i, version := range layer.previous {
		p.kernel.Add(a.stateGradients[int(version)*d:int(version+1)*d], a.residualGradient[i*d:(i+1)*d])
		a.weightedBackward(a.keptGradient[i*d:(i+1)*d], version)
	}
	for i, version := range layer.senders {
		a.weightedBackward(a.sentGradient[i*d:(i+1)*d], version)
	}
}

// weightedBackward adds to the gradients of x and p from that of y = sigmoid(p) x.
func (a *astar) weightedBackward(gradient []float32, version int32) {
	weight, product := sigmoid(a.priorities[version]), float32(0)
	first := int(version) * len(gradient)
	states, stateGradients := a.states[first:first+len(gradient)], a.stateGradients[first:first+len(gradient)]
	for j, value := range gradient {
		product += value * states[j]
		stateGradients[j] += weight * value
	}
	a.priorityGradients[version] += product * weight * (1 - weight)
}
