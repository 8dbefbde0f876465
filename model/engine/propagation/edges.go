package propagation

import (
	"context"
	"errors"
	"math"

	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
)

// Edge is an edge along which a layer sent a message that was not empty.
type Edge struct {
	Sender, Relation, Receiver int32
	// Value is how much the message carries of a candidate's score: its derivative by a factor of the message,
	// which is 1, or what SenderPriorities says.
	Value float64
}

// edgeRecorder records the edges of a backward pass.
type edgeRecorder struct {
	keep   func(layer int, receiver int32) bool
	heard  func(t int, x *receiverGroup, kind int, sender int32) bool
	layers [][]Edge
}

// EdgeGradients propagates the gradient of an entity's states, laid out as Candidates writes them, through the last
// Forward, which must have been for training. It returns the edges of layer t at t-1, with the derivatives of the
// entity's score by factors of their messages. keep selects the receivers in a layer, from 1, whose edges are returned.
// The edges are grouped by receiver and, within that, by sender. Where several messages attain a maximum or minimum,
// they share its gradient evenly, unlike in Backward; for that, states that are equal on paper get equal bits. It is
// not for A*Net's policies, see SenderPriorities.
//
// into is a buffer, whose contents are undefined afterwards. The edges are valid until the next call.
// Memory: 24 bytes an edge.
func (p *Propagator) EdgeGradients(ctx context.Context, entity int32, gradient []float32, into *Gradients,
	keep func(layer int, receiver int32) bool) ([][]Edge, error) {
	x, is := p.policy.(layered)
	if !p.query.Training || !is {
		return nil, errors.New("propagating gradients to edges: the last query was not for training, or the policy has priorities")
	}
	into.Zero()
	p.edges = &edgeRecorder{keep: keep, layers: p.edgeLayers(), heard: x.heard}
	defer func() { p.edges = nil }()
	if err := x.edgeGradients(ctx, entity, gradient, into); err != nil {
		return nil, err
	}
	return p.edges.layers, nil
}

// edgeGradients computes the gradients of all states by the final state of an entity, given the final state's gradient.
func (p *tables) edgeGradients(ctx context.Context, entity int32, gradient []float32, into *Gradients) error {
	p.unifyStates()
	p.clearGradients()
	p.loadGradients([]int32{entity}, gradient)
	for t := p.configuration.Layers; t >= 1; t-- {
		if err := canceled(ctx); err != nil {
			return err
		}
		p.layeredPolicy.backwardLayer(t, into)
	}
	return nil
}

// SenderPriorities returns the edges that the layers of the last Forward sent along, of layer t at t-1, with the
// sigmoids of their senders' priorities, divided by the largest in the layer. A*Net's authors weigh paths by them
// (arXiv 2206.04798, section 4.4). It is for A*Net's policies only; keep, and how long the edges are valid, are
// as for EdgeGradients.
func (p *Propagator) SenderPriorities(keep func(layer int, receiver int32) bool) [][]Edge {
	a := p.policy.(*astar)
	entities := make([]int32, 2, a.versions) // by version; nothing sends version 0
	entities[1] = p.query.Source
	layers := p.edgeLayers()
	for i := range a.layers {
		layer := &a.layers[i]
		largest := math.Inf(-1) // of the logarithms: the sigmoids themselves may all be 0
		for row, receiver := range layer.entities {
			begin, end := layer.edges.Range(int32(row), 1)
			kept := keep(i+1, receiver)
			for e := begin; e < end; e++ {
				version := layer.edges.Rows[e]
				value := logSigmoid(float64(a.priorities[version]))
				largest = math.Max(largest, value)
				if kept {
					layers[i] = append(layers[i], Edge{entities[version], layer.edges.Relations[e], receiver, value})
				}
			}
		}
		for j := range layers[i] {
			layers[i][j].Value = math.Exp(layers[i][j].Value - largest)
		}
		entities = append(entities, layer.entities...)
	}
	return layers
}

// logSigmoid returns log(1 / (1 + exp(-x))).
func logSigmoid(x float64) float64 { return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) }

// edgeLayers returns an empty list of edges for each layer, in the buffers of the call before.
func (p *runner) edgeLayers() [][]Edge {
	p.scratch.edgeLayers = parallel.Extend(p.scratch.edgeLayers, p.configuration.Layers)
	for t := range p.scratch.edgeLayers {
		p.scratch.edgeLayers[t] = p.scratch.edgeLayers[t][:0]
	}
	return p.scratch.edgeLayers
}

// aggregateEdgesBackward propagates the gradients of some receivers' aggregation, and records the edges.
func (p *runner) aggregateEdgesBackward(x *layerUpdate, group *receiverGroup, r *kernel.Receivers, features, gradient []float32) {
	t, offsets := x.layer+1, r.Senders.Offsets
	edges := p.edges.layers[x.layer]
	kept, current := false, int32(-1)
	p.scratch.edges.Backward(r, features, gradient, &group.gradients, func(row, e int32, value float32) {
		if row != current {
			kept, current = p.edges.keep(t, x.entities[row]), row
		}
		if !kept {
			return
		}
		kind := 0
		for e >= offsets[3*row+int32(kind)+1] {
			kind++
		}
		sender := x.entities[p.layout.SenderRow(r.Senders.Rows[e], kind)]
		if p.edges.heard(t, group, kind, sender) {
			edges = append(edges, Edge{sender, r.Senders.Relations[e], x.entities[row], float64(value)})
		}
	})
	p.edges.layers[x.layer] = edges
}

// unifyStates gives states that are equal on paper equal bits: states of entities that the same layers update with
// equal messages. The order of the messages may differ, and with it the last bits of their sums, which would decide
// which of several messages attains an extreme. Equal states are found by a hash of all that they are computed from;
// package window finds fewer of them, those with messages in the same order.
func (p *tables) unifyStates() {
	d, tables := p.configuration.Dim, &p.states
	classes := parallel.Cleared(p.scratch.classes, len(tables.all)/d) // by row of all tables; 0 before a state is reached
	p.scratch.classes = classes
	first := map[uint64]int{}
	classes[tables.first(0)+int(p.layout.Row(p.query.Source))] = 1
	for t := 1; t <= p.configuration.Layers; t++ {
		clear(first)
		groups := p.layeredPolicy.groups(t)
		for i := range groups {
			x := &groups[i]
			output := tables.first(p.layeredPolicy.tableAfter(t, x)) // index of the table's first row
			for _, row := range x.rows {
				at := output + int(row)
				classes[at] = p.classOf(x, t, row, classes, output)
				if one, there := first[classes[at]]; there {
					copy(tables.all[at*d:(at+1)*d], tables.all[one*d:(one+1)*d])
				} else {
					first[classes[at]] = at
				}
			}
		}
	}
}

// classOf returns a hash of all that a state of a group in layer t is computed from. Messages are added up, so that
// their order does not matter. output is the index of the first row of the state's table.
func (p *tables) classOf(x *receiverGroup, t int, row int32, classes []uint64, output int) uint64 {
	r := &x.receivers
	class := parallel.Mix(uint64(t)<<32 | uint64(p.layout.Degrees[row]))
	if x.previous != nil {
		class = parallel.Mix(class ^ classes[output-p.states.rows+int(row)])
	}
	if r.Initial != nil {
		class = parallel.Mix(class)
	}
	if r.DegreeMessage != nil {
		class = parallel.Mix(class ^ uint64(r.Copies[row]))
	}
	begin, end := r.Senders.Range(row, r.Kinds)
	sum := uint64(0)
	for e := begin; e < end; e++ {
		sum += parallel.Mix(classes[r.StateOffset+int(r.Senders.Rows[e])] + parallel.Mix(uint64(r.Senders.Relations[e])))
	}
	return parallel.Mix(class + sum)
}
