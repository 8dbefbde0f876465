package propagation

import (
	"context"
	"math"
	"slices"

	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
)

// LayerCount counts what A*Net selected in one layer of the last query.
type LayerCount struct {
	// AStar is |A|, the number of edges selected. Kept is the number of them that the window admits,
	// or all without a window. Active is the number of entities they update.
	AStar, Kept, Active int64
}

// astar is A*Net's propagation (arXiv 2206.04798), alone or within a window: in each layer the
// entities of highest priority send, along their edges to the heads of highest priority.
//
// A layer writes every state that it updates as a new version, with its priority. Version 0 is the zero state in which
// all entities start except the source, version 1 the source's; the versions of each layer follow in the order of its
// receivers. Memory: 4 · (2 dim + 1) bytes a version, twice that while training.
//
// The selection needs the priorities of all, but the last layer of a training query updates its
// candidates only, and gradients are computed for the versions that the candidates depend on.
type astar struct {
	*runner
	rows     []int32 // 0, 1, 2, ..: the rows of a layer's receivers
	current  []int32 // version of each entity
	versions int

	states     []float32 // [versions, dim]
	weighted   []float32 // sigmoid(p) x, [versions, dim]
	priorities []float32 // [versions]
	query      []float32 // linear's share of x_q, bias included, [dim]

	layers      []astarLayer
	selection   selection
	receivers   []bool // by entity: the only receivers of a layer, or nil for all
	isCandidate []bool // buffer of receivers

	needed            []bool    // by version
	stateGradients    []float32 // [versions, dim]
	weightedGradients []float32 // [versions, dim]
	priorityGradients []float32 // [versions]
	queryGradient     []float32 // of query, [dim]

	keptGradient, residualGradient []float32 // of a layer's kept and residual
	block                          priorityBlock
}

// astarLayer holds the inputs of one layer's update.
type astarLayer struct {
	count    LayerCount
	first    int            // version of its first receiver
	entities []int32        // receivers, by degree
	degrees  []int32        // of the receivers in the query's graph
	previous []int32        // version of each receiver before the update
	kept     []float32      // sigmoid(p) x of the receivers, [n, dim]
	residual []float32      // x of the receivers, [n, dim]
	divisor  []float32      // 1 / (degree + 1), [n]
	edges    kernel.Senders // all of one kind; rows are versions

	positions []int32 // of each receiver's activations among the layer's
	needed    []int32 // the receivers whose new version is needed
}

func newAStar(r *runner) *astar {
	d := r.configuration.Dim
	return &astar{
		runner: r, current: make([]int32, r.graph.Entities), layers: make([]astarLayer, r.configuration.Layers),
		query: make([]float32, d), queryGradient: make([]float32, d), selection: newSelection(r.layout.ByDegree()),
	}
}

func (a *astar) sharesEqual() bool { return false }

func (a *astar) width() int { return 1 }

func (a *astar) distance(entity int32) (hops int, reached bool) { return a.searchedDistance(entity) }

// LayerCounts returns the counts of the last Forward by layer, or nil for policies without A*Net. Where a training
// query has candidates, the last layer keeps the edges to these only.
func (p *Propagator) LayerCounts() []LayerCount {
	a, is := p.policy.(*astar)
	if !is {
		return nil
	}
	counts := make([]LayerCount, len(a.layers))
	for t := range counts {
		counts[t] = a.layers[t].count
	}
	return counts
}

// Priorities sets scores, [V], to the score of every entity after the last Forward, which must have been
// without candidates.
func (p *Propagator) Priorities(scores []float32) {
	a := p.policy.(*astar)
	for o, version := range a.current {
		scores[o] = a.priorities[version]
	}
}

// forward propagates the current query.
func (a *astar) forward(ctx context.Context) error {
	a.begin()
	p := a.runner
	for t := range a.layers {
		if err := canceled(ctx); err != nil {
			return err
		}
		layer := &a.layers[t]
		if t == len(a.layers)-1 && p.query.Training && p.query.Candidates != nil {
			a.updateOnly(p.query.Candidates)
		}
		a.selectEdges(t, layer)
		a.extend(len(layer.entities))
		a.gather(layer)
		if p.query.Training {
			p.activations.extend(a.versions-2, p.weights.width(), p.configuration.Dim, p.maskWords())
		}
		p.sent += layer.count.Kept
		a.update(t, a.all(layer))
		p.run(&p.update)
		a.prioritize(layer.first, layer.first+len(layer.entities))
		for i, o := range layer.entities {
			a.current[o] = int32(layer.first + i)
			a.selection.visit(o, a.priorities[layer.first+i])
		}
	}
	return nil
}

// begin sets versions 0 and 1 and their priorities.
func (a *astar) begin() {
	p := a.runner
	a.receivers = nil
	d, w := p.configuration.Dim, p.weights.priority
	copy(a.query, w.bias)
	p.kernel.Multiply(a.query, p.embedding, w.query, kernel.Product{Rows: 1, Inner: d, Columns: d, Add: true})
	a.versions = 0
	a.extend(2)
	clear(a.states[:d])
	copy(a.states[d:2*d], p.embedding)
	a.prioritize(0, 2)
	clear(a.current)
	a.current[p.query.Source] = 1
	a.selection.start(a.priorities[0])
	a.selection.visit(p.query.Source, a.priorities[1])
}

// updateOnly has the next layer update only the candidates.
func (a *astar) updateOnly(candidates []int32) {
	a.isCandidate = parallel.Cleared(a.isCandidate, len(a.current))
	for _, o := range candidates {
		a.isCandidate[o] = true
	}
	a.receivers = a.isCandidate
}

// extend allocates count more versions.
func (a *astar) extend(count int) {
	d := a.runner.configuration.Dim
	a.versions += count
	a.states = parallel.Extend(a.states, a.versions*d)
	a.weighted = parallel.Extend(a.weighted, a.versions*d)
	a.priorities = parallel.Extend(a.priorities, a.versions)
}

// prioritize computes the priorities of versions first to last, and the states that they weight.
func (a *astar) prioritize(first, last int) {
	d := a.runner.configuration.Dim
	for ; first < last; first += chunkRows {
		end := min(first+chunkRows, last)
		a.forwardPriority(a.states[first*d:end*d], a.priorities[first:end])
		for version := first; version < end; version++ {
			weight, out := sigmoid(a.priorities[version]), a.weighted[version*d:(version+1)*d]
			for j, value := range a.states[version*d : (version+1)*d] {
				out[j] = weight * value
			}
		}
	}
}

// gather copies the states that a layer's receivers have before the update: versions are appended
// while the layer reads them.
func (a *astar) gather(layer *astarLayer) {
	d := a.runner.configuration.Dim
	layer.first = a.versions - len(layer.entities)
	layer.kept = parallel.Resize(layer.kept, len(layer.entities)*d)
	layer.residual = parallel.Resize(layer.residual, len(layer.entities)*d)
	layer.previous = parallel.Resize(layer.previous, len(layer.entities))
	layer.positions = parallel.Resize(layer.positions, len(layer.entities))
	layer.divisor = parallel.Resize(layer.divisor, len(layer.entities))
	for i, o := range layer.entities {
		version := a.current[o]
		layer.previous[i] = version
		copy(layer.kept[i*d:(i+1)*d], a.weighted[int(version)*d:])
		copy(layer.residual[i*d:(i+1)*d], a.states[int(version)*d:])
		layer.divisor[i] = 1 / (float32(layer.degrees[i]) + 1)
	}
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// update describes the update of a layer's receivers, or of some of them, in ascending rows.
func (a *astar) update(t int, rows []int32) {
	p, layer := a.runner, &a.layers[t]
	d, n := p.configuration.Dim, len(layer.entities)
	x := &p.update
	*x = layerUpdate{layer: t, groups: x.groups[:0], entities: layer.entities, degrees: layer.degrees, firstRow: layer.first - 2, count: len(rows),
		positions: layer.positions}
	source := slices.IndexFunc(rows, func(row int32) bool { return layer.entities[row] == p.query.Source })
	for _, part := range aroundSource(source, len(rows)) {
		group := receiverGroup{rows: rows[part[0]:part[1]], previous: layer.residual, output: a.states[layer.first*d : (layer.first+n)*d]}
		group.receivers = kernel.Receivers{
			Dim: d, Message: p.message, Reduction: p.reduction,
			Senders: layer.edges, Kinds: 1, States: a.weighted,
			RelationEmbeddings: p.embeddings[t], Previous: layer.kept, MeanFactor: layer.divisor,
		}
		if source >= 0 && part[0] == source {
			group.receivers.Initial = p.embedding
		}
		x.groups = append(x.groups, group)
	}
}

// all returns the rows of all of a layer's receivers.
func (a *astar) all(layer *astarLayer) []int32 {
	for i := len(a.rows); i < len(layer.entities); i++ {
		a.rows = append(a.rows, int32(i))
	}
	return a.rows[:len(layer.entities)]
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
	p := a.runner
	d := p.configuration.Dim
	a.stateGradients = parallel.Cleared(a.stateGradients, a.versions*d)
	a.weightedGradients = parallel.Cleared(a.weightedGradients, a.versions*d)
	a.priorityGradients = parallel.Cleared(a.priorityGradients, a.versions)
	clear(a.queryGradient)
	for i, o := range entities {
		a.priorityGradients[a.current[o]] += gradient[i]
	}
	a.findNeeded(entities)
	for t := len(a.layers) - 1; t >= 0; t-- {
		layer := &a.layers[t]
		a.prioritizeBackward(layer.first, layer.needed, into)
		a.layerBackward(t, layer, into)
	}
	a.prioritizeBackward(0, identity[:2], into)
	p.kernel.Add(into.Query, a.stateGradients[d:2*d])
	p.kernel.Add(into.priority.bias, a.queryGradient)
	p.kernel.MultiplyTransposed(into.priority.query, a.queryGradient, p.embedding, kernel.Product{Rows: 1, Inner: d, Columns: d, Add: true})
	p.kernel.Multiply(into.Query, a.queryGradient, p.weights.priority.queryStored, kernel.Product{Rows: 1, Inner: d, Columns: d, Add: true})
}

// findNeeded finds the versions that the scores of entities depend on.
func (a *astar) findNeeded(entities []int32) {
	a.needed = parallel.Cleared(a.needed, a.versions)
	for _, o := range entities {
		a.needed[a.current[o]] = true
	}
	for t := len(a.layers) - 1; t >= 0; t-- {
		layer := &a.layers[t]
		layer.needed = layer.needed[:0]
		for row, version := range layer.previous {
			if !a.needed[layer.first+row] {
				continue
			}
			layer.needed = append(layer.needed, int32(row))
			a.needed[version] = true
			begin, end := layer.edges.Range(int32(row), 1)
			for _, sender := range layer.edges.Rows[begin:end] {
				a.needed[sender] = true
			}
		}
	}
}

// prioritizeBackward propagates the gradients of weighted states and priorities, for some rows of the
// versions from first on.
func (a *astar) prioritizeBackward(first int, rows []int32, into *Gradients) {
	for _, row := range rows {
		a.weightedBackward(first + int(row))
	}
	for ; len(rows) > 0; rows = rows[min(chunkRows, len(rows)):] {
		a.backwardPriority(first, rows[:min(chunkRows, len(rows))], into)
	}
}

// layerBackward propagates the gradients of a layer's new states to the states before it. Gradients of rows' previous
// states are added to the versions that the rows had before.
func (a *astar) layerBackward(t int, layer *astarLayer, into *Gradients) {
	p := a.runner
	d, n := p.configuration.Dim, len(layer.entities)
	a.keptGradient = parallel.Cleared(a.keptGradient, n*d)
	a.residualGradient = parallel.Cleared(a.residualGradient, n*d)
	a.update(t, layer.needed)
	for i := range p.update.groups {
		x := &p.update.groups[i]
		x.gradient, x.residual = a.stateGradients[layer.first*d:(layer.first+n)*d], a.residualGradient
		x.setGradients(a.weightedGradients, t, into)
		x.gradients.Previous = a.keptGradient
	}
	p.runBackward(&p.update, &into.layers[t])
	for _, row := range layer.needed {
		version, i := int(layer.previous[row]), int(row)
		p.kernel.Add(a.stateGradients[version*d:(version+1)*d], a.residualGradient[i*d:(i+1)*d])
		p.kernel.Add(a.weightedGradients[version*d:(version+1)*d], a.keptGradient[i*d:(i+1)*d])
	}
}

// weightedBackward adds to the gradients of x and p, given the gradient of y = sigmoid(p) x.
func (a *astar) weightedBackward(version int) {
	d := a.runner.configuration.Dim
	weight, product := sigmoid(a.priorities[version]), float32(0)
	states, stateGradients := a.states[version*d:(version+1)*d], a.stateGradients[version*d:(version+1)*d]
	for j, value := range a.weightedGradients[version*d : (version+1)*d] {
		product += float32(value * states[j])
		stateGradients[j] += float32(weight * value)
	}
	a.priorityGradients[version] += product * weight * (1 - weight)
}
