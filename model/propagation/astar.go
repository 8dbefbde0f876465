package propagation

import (
	"math"
	"slices"

	"tagnet/model/kernel"
)

// LayerCount is what A*Net's choice did in one layer of the last query.
type LayerCount struct {
	// AStar is |A|, the number of edges chosen; Kept is how many of them the window admits
	// too (all of them where there is none); Active is the number of entities they update.
	AStar, Kept, Active int64
}

// astar is A*Net's propagation (arXiv 2206.04798), alone or within a window: in each layer the
// entities of highest priority send, along those of their edges whose heads have the highest.
//
// A state that a layer updates becomes a new version, with its priority: version 0 is the
// zero state that all entities but the source start from, version 1 the source's, and each
// layer's follow in the order of its receivers. Memory: 4 · (4 dim + 1) bytes a version,
// twice that while training.
type astar struct {
	propagator *Propagator
	rows       []int32 // 0, 1, 2, ..: of a layer's receivers
	current    []int32 // version of each entity
	visited    []int32 // entities that have a version of their own
	versions   int

	states     []float32 // [versions, dim]
	priorities []float32 // [versions]
	inner      []float32 // [versions, dim], see forwardPriority
	hidden     []float32 // [versions, 2 dim]
	query      []float32 // linear's share of x_q, bias included, [dim]

	layers []astarLayer
	choice choice

	stateGradients    []float32 // [versions, dim]
	priorityGradients []float32 // [versions]
	queryGradient     []float32 // of query, [dim]

	messages, messageGradient, innerGradient, hiddenGradient []float32 // buffers of the score function
	sendGradient, ownGradient, residualGradient              []float32 // of sent, own and residual
}

// astarLayer is what one layer did.
type astarLayer struct {
	count    LayerCount
	first    int       // version of its first receiver
	entities []int32   // receivers, by degree
	degrees  []int32   // of the receivers in the query's graph
	previous []int32   // version of each receiver before
	senders  []int32   // version of each sender
	sent     []float32 // sigmoid(p) x of the senders, [senders, dim]
	own      []float32 // the same of the receivers, [n, dim]
	residual []float32 // x of the receivers, [n, dim]
	divisor  []float32
	heard    kernel.Senders // the edges; all are of one kind
}

func newAStar(p *Propagator) *astar {
	return &astar{
		propagator: p, current: make([]int32, p.graph.Entities), layers: make([]astarLayer, p.configuration.Layers),
		query: make([]float32, p.configuration.Dim), queryGradient: make([]float32, p.configuration.Dim),
		choice: newChoice(p.layout.ByDegree()),
	}
}

// LayerCounts are those of the last Forward, a layer each; nil for policies without A*Net.
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

// Priorities returns the score of every entity after the last Forward, [V].
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
		a.choose(t, layer)
		a.extend(len(layer.entities))
		a.gather(layer)
		if p.query.Training {
			p.memory.extend(a.versions-2, p.weights.width(), p.configuration.Dim, p.keptWords())
		}
		p.sent += layer.count.Kept
		a.pass(t)
		p.forward(&p.pass)
		a.prioritize(layer.first, layer.first+len(layer.entities))
		for i, o := range layer.entities {
			if a.current[o] == 0 {
				a.visited = append(a.visited, o)
			}
			a.current[o] = int32(layer.first + i)
		}
	}
}

// begin makes versions 0 and 1, and their priorities.
func (a *astar) begin() {
	p := a.propagator
	d, w := p.configuration.Dim, p.weights.priority
	copy(a.query, w.bias)
	p.kernel.Multiply(a.query, p.embedding, w.query, 1, d, d, true)
	a.versions = 0
	a.extend(2)
	clear(a.states[:d])
	copy(a.states[d:2*d], p.embedding)
	a.prioritize(0, 2)
	clear(a.current)
	a.current[p.query.Source] = 1
	a.visited = append(a.visited[:0], p.query.Source)
}

// extend makes room for more versions and keeps those that are.
func (a *astar) extend(count int) {
	d := a.propagator.configuration.Dim
	a.versions += count
	a.states = extend(a.states, a.versions*d)
	a.inner = extend(a.inner, a.versions*d)
	a.hidden = extend(a.hidden, a.versions*2*d)
	a.priorities = extend(a.priorities, a.versions)
}

// prioritize scores the versions first to last.
func (a *astar) prioritize(first, last int) {
	d := a.propagator.configuration.Dim
	a.forwardPriority(a.states[first*d:last*d], a.inner[first*d:last*d], a.hidden[2*first*d:2*last*d], a.priorities[first:last])
}

// gather computes the states that are sent and kept, y = sigmoid(p) x, and copies the
// residual: versions are appended while they are read.
func (a *astar) gather(layer *astarLayer) {
	d := a.propagator.configuration.Dim
	layer.first = a.versions - len(layer.entities)
	layer.sent = grow(layer.sent, len(layer.senders)*d)
	for i, version := range layer.senders {
		a.weighed(layer.sent[i*d:(i+1)*d], version)
	}
	layer.own = grow(layer.own, len(layer.entities)*d)
	layer.residual = grow(layer.residual, len(layer.entities)*d)
	layer.previous = grow(layer.previous, len(layer.entities))
	for i, o := range layer.entities {
		version := a.current[o]
		layer.previous[i] = version
		a.weighed(layer.own[i*d:(i+1)*d], version)
		copy(layer.residual[i*d:(i+1)*d], a.states[int(version)*d:])
	}
	layer.divisor = grow(layer.divisor, len(layer.entities))
	for i, degree := range layer.degrees {
		layer.divisor[i] = 1 / (float32(degree) + 1)
	}
}

func (a *astar) weighed(out []float32, version int32) {
	weight := sigmoid(a.priorities[version])
	for j, value := range a.states[int(version)*len(out):][:len(out)] {
		out[j] = weight * value
	}
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// pass describes the update of a layer's receivers; the source's boundary is another than the
// others'.
func (a *astar) pass(t int) {
	p, layer := a.propagator, &a.layers[t]
	d, n := p.configuration.Dim, len(layer.entities)
	for i := len(a.rows); i < n; i++ {
		a.rows = append(a.rows, int32(i))
	}
	x := &p.pass
	*x = pass{layer: t, parts: x.parts[:0], entities: layer.entities, degrees: layer.degrees, firstRow: layer.first - 2, count: n}
	source := slices.Index(layer.entities, p.query.Source)
	for _, rows := range aroundSource(source, n) {
		part := part{rows: a.rows[rows[0]:rows[1]], own: layer.residual, output: a.states[layer.first*d : (layer.first+n)*d]}
		part.receivers = kernel.Receivers{
			Dim: d, Message: p.message, Reduction: p.reduction,
			Senders: layer.heard, Heard: 1, States: layer.sent,
			RelationEmbeddings: p.relations[t], Own: layer.own, Divisor: layer.divisor,
		}
		if source >= 0 && rows[0] == source {
			part.receivers.Initial = p.embedding
		}
		x.parts = append(x.parts, part)
	}
}

// candidates copies scores: the final score of an entity is its priority.
func (a *astar) candidates(entities []int32, states []float32, valid []int32) {
	for i, o := range entities {
		states[i], valid[i] = a.priorities[a.current[o]], 1
	}
}

// backward runs the layers in reverse. Gradients flow through priorities where they weigh a
// state; the choice itself has none.
func (a *astar) backward(entities []int32, gradient []float32, into *Gradients) {
	p := a.propagator
	d := p.configuration.Dim
	a.stateGradients = grow(a.stateGradients, a.versions*d)
	a.priorityGradients = grow(a.priorityGradients, a.versions)
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
	p.kernel.MultiplyTransposed(into.priority.query, a.queryGradient, p.embedding, 1, d, d, true)
	p.kernel.Multiply(into.Query, a.queryGradient, p.weights.priority.queryBack, 1, d, d, true)
}

func (a *astar) prioritizeBackward(first, last int, into *Gradients) {
	d := a.propagator.configuration.Dim
	a.backwardPriority(a.states[first*d:last*d], a.inner[first*d:last*d], a.hidden[2*first*d:2*last*d],
		a.priorityGradients[first:last], a.stateGradients[first*d:last*d], into)
}

func (a *astar) layerBackward(t int, layer *astarLayer, into *Gradients) {
	p := a.propagator
	d, n := p.configuration.Dim, len(layer.entities)
	a.sendGradient = cleared(a.sendGradient, len(layer.sent))
	a.ownGradient = cleared(a.ownGradient, n*d)
	a.residualGradient = cleared(a.residualGradient, n*d)
	a.pass(t)
	for i := range p.pass.parts {
		x := &p.pass.parts[i]
		x.gradient, x.residual = a.stateGradients[layer.first*d:(layer.first+n)*d], a.residualGradient
		x.gradients = kernel.Gradients{States: a.sendGradient, RelationEmbeddings: into.layers[t].relation, Own: a.ownGradient}
		if x.receivers.Initial != nil {
			x.gradients.Initial = into.Query
		}
	}
	p.backward(&p.pass, &into.layers[t])
	for i, version := range layer.previous {
		p.kernel.Add(a.stateGradients[int(version)*d:int(version+1)*d], a.residualGradient[i*d:(i+1)*d])
		a.weighedBackward(a.ownGradient[i*d:(i+1)*d], version)
	}
	for i, version := range layer.senders {
		a.weighedBackward(a.sendGradient[i*d:(i+1)*d], version)
	}
}

// weighedBackward takes the gradient of y = sigmoid(p) x to x and p.
func (a *astar) weighedBackward(gradient []float32, version int32) {
	weight, product := sigmoid(a.priorities[version]), float32(0)
	at := int(version) * len(gradient)
	states, stateGradients := a.states[at:at+len(gradient)], a.stateGradients[at:at+len(gradient)]
	for j, value := range gradient {
		product += value * states[j]
		stateGradients[j] += weight * value
	}
	a.priorityGradients[version] += product * weight * (1 - weight)
}

// cleared gives a slice n zeros.
func cleared[T any](s []T, n int) []T {
	s = grow(s, n)
	clear(s)
	return s
}

// extend gives a slice n entries and keeps those it has.
func extend[T any](s []T, n int) []T {
	return slices.Grow(s[:min(len(s), n)], n-min(len(s), n))[:n]
}
