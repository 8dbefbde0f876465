package spec

import "tagnet/model/weights/parameters"

// layer holds the results of a layer's forward pass that its backward pass needs.
type layer struct {
	activity
	relations []float64     // embeddings, [2R*d]
	weighted  []float64     // y, the states that are sent, [V*d]
	updates   []*nodeUpdate // by entity, nil where it is not active
}

// propagate computes Hiddens, Priorities and Counts.
func (p *Pass) propagate() {
	m, c := p.model, p.model.configuration
	states := make([]float64, m.graph.Entities*c.Dim)
	copy(row(states, int(p.Query.Source), c.Dim), p.embedding)
	p.Hiddens = [][]float64{states}
	visited := make([]bool, m.graph.Entities)
	visited[p.Query.Source] = true
	if c.Prioritized() {
		priorities := make([]float64, m.graph.Entities)
		for o := range priorities {
			priorities[o] = m.score("mlp", row(states, o, c.Dim), p.embedding)
		}
		p.Priorities = [][]float64{priorities}
	}
	for t := 1; t <= c.Layers; t++ {
		p.propagateLayer(t, visited)
	}
}

// propagateLayer computes the states (and priorities) after layer t, and marks the entities visited.
func (p *Pass) propagateLayer(t int, visited []bool) {
	m, c := p.model, p.model.configuration
	before := p.Hiddens[t-1]
	after := append([]float64(nil), before...)
	l := layer{relations: p.relations(t), weighted: p.weighted(t - 1), updates: make([]*nodeUpdate, m.graph.Entities)}
	var counts Counts
	if c.Prioritized() {
		l.activity, counts = p.byPriority(t, p.Priorities[t-1], visited)
	} else {
		l.activity, counts = p.byDistance(t)
	}
	// Active entities are updated; all others keep their states.
	for o := range int32(m.graph.Entities) {
		if !l.active[o] {
			continue
		}
		aggregated := p.reduction(o).apply(p.set(t, &l, o))
		l.updates[o] = p.update(t, o, join(row(l.weighted, int(o), c.Dim), aggregated))
		add(row(after, int(o), c.Dim), l.updates[o].added)
	}
	// Keep what the backward pass needs. Priorities depend on the new states.
	p.Hiddens = append(p.Hiddens, after)
	p.Counts = append(p.Counts, counts)
	p.layers = append(p.layers, l)
	if c.Prioritized() {
		priorities := append([]float64(nil), p.Priorities[t-1]...)
		for o, active := range l.active {
			if active {
				priorities[o] = m.score("mlp", row(after, o, c.Dim), p.embedding)
				visited[o] = true
			}
		}
		p.Priorities = append(p.Priorities, priorities)
	}
}

// weighted returns the states that are sent after t layers: the states themselves, or for A*Net their
// products with the sigmoids of their priorities.
func (p *Pass) weighted(t int) []float64 {
	if !p.model.configuration.Prioritized() {
		return p.Hiddens[t]
	}
	weighted := append([]float64(nil), p.Hiddens[t]...)
	for o, priority := range p.Priorities[t] {
		share, _ := priorityWeight(priority)
		for j, value := range row(weighted, o, p.model.configuration.Dim) {
			row(weighted, o, p.model.configuration.Dim)[j] = share * value
		}
	}
	return weighted
}

// set returns what o aggregates in layer t: its boundary x0, then copies of the degree message if there
// are any, then the messages in the order of their edges.
func (p *Pass) set(t int, l *layer, o int32) []member {
	m, c := p.model, p.model.configuration
	set := []member{{row(p.Hiddens[0], int(o), c.Dim), 1}}
	if missing := p.missing(o, l.edges[o]); missing > 0 {
		set = append(set, member{m.parameters.Layer(t, "degree"), float64(missing)})
	}
	for _, e := range l.edges[o] {
		vector := message(c.Message, row(l.weighted, int(e.sender), c.Dim), row(l.relations, int(e.relation), c.Dim))
		set = append(set, member{vector, 1})
	}
	return set
}

func (p *Pass) reduction(o int32) reduction {
	return newReduction(p.model.configuration.Aggregate, p.degree(o), p.model.graph.MeanLogDegree)
}

// propagateBackward propagates gradients of the states after t = 0..T layers, and for A*Net of the last priorities
// (else nil), to the parameters and the query's embedding. It adds to the gradients of earlier states.
func (p *Pass) propagateBackward(states [][]float64, priorities, embedding []float64, into *parameters.Set[float64]) {
	m, c := p.model, p.model.configuration
	p.gradStates = make([]float64, len(p.RelationStates()))
	for t := c.Layers; t >= 1; t-- {
		priorities = p.propagateLayerBackward(t, states[t], states[t-1], priorities, embedding, into)
	}
	for o, gradient := range priorities {
		if gradient != 0 {
			m.scoreBackward("mlp", row(p.Hiddens[0], o, c.Dim), p.embedding, gradient, scoreGradients{row(states[0], o, c.Dim), embedding, into})
		}
	}
	add(embedding, row(states[0], int(p.Query.Source), c.Dim))
}

// propagateLayerBackward adds to before, the gradient of the states before layer t, given after, the
// gradient of the states after it. It takes the gradients of the priorities after the layer and returns
// the gradients of the priorities before it.
func (p *Pass) propagateLayerBackward(t int, after, before, priorities, embedding []float64, into *parameters.Set[float64]) []float64 {
	m, c := p.model, p.model.configuration
	l := &p.layers[t-1]
	to := setGradients{make([]float64, len(before)), make([]float64, len(l.relations)), embedding, into}
	priorities = append([]float64(nil), priorities...)
	for o, active := range l.active {
		gradient := row(after, o, c.Dim)
		if active && c.Prioritized() {
			// The layer replaced this priority, by one that depends on the new state.
			m.scoreBackward("mlp", row(p.Hiddens[t], o, c.Dim), p.embedding, priorities[o], scoreGradients{gradient, embedding, into})
			priorities[o] = 0
		}
		add(row(before, o, c.Dim), gradient)
		if active {
			input := m.updateBackward(entityLayer(t), l.updates[o], gradient, into)
			add(row(to.weighted, o, c.Dim), input[:c.Dim])
			p.setBackward(t, int32(o), input[c.Dim:], to)
		}
	}
	p.relationsBackward(t, to.relations, embedding, into)
	p.weightedBackward(t-1, to.weighted, before, priorities)
	return priorities
}

// setGradients are the gradients of what the sets of a layer are made of: weighted states, relations, the query's
// embedding and parameters.
type setGradients struct {
	weighted, relations, embedding []float64
	parameters                     *parameters.Set[float64]
}

// setBackward propagates the gradient of o's update vector to the members of its set.
func (p *Pass) setBackward(t int, o int32, update []float64, to setGradients) {
	c, l := p.model.configuration, &p.layers[t-1]
	r, set := p.reduction(o), p.set(t, l, o)
	r.shared = p.explained != nil
	gradients := r.backward(set, update)
	if p.explained != nil {
		p.recordEdges(t, l, o, set, gradients)
	}
	if o == p.Query.Source { // elsewhere the boundary is 0, whatever the query
		add(to.embedding, gradients[0])
	}
	gradients = gradients[1:]
	if p.missing(o, l.edges[o]) > 0 {
		add(to.parameters.Layer(t, "degree"), gradients[0])
		gradients = gradients[1:]
	}
	for i, e := range l.edges[o] {
		messageBackward(c.Message, row(l.weighted, int(e.sender), c.Dim), row(l.relations, int(e.relation), c.Dim), gradients[i],
			row(to.weighted, int(e.sender), c.Dim), row(to.relations, int(e.relation), c.Dim))
	}
}

// weightedBackward propagates the gradient of the states that are sent after t layers to the states and the priorities.
func (p *Pass) weightedBackward(t int, weighted, states, priorities []float64) {
	if !p.model.configuration.Prioritized() {
		add(states, weighted)
		return
	}
	dim := p.model.configuration.Dim
	for o, priority := range p.Priorities[t] {
		share, slope := priorityWeight(priority)
		for j, gradient := range row(weighted, o, dim) {
			row(states, o, dim)[j] += share * gradient
			priorities[o] += slope * gradient * row(p.Hiddens[t], o, dim)[j]
		}
	}
}
