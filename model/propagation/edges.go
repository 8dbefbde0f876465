package propagation

import (
	"context"
	"errors"
	"math"

	"tagnet/model/kernel"
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
	layers [][]Edge
}

// EdgeGradients propagates the gradient of an entity's states, laid out as Candidates writes them, through the last
// Forward, which must have been for training. It returns the edges of layer t at t-1, with the derivatives of the
// entity's score by factors of their messages. keep selects the receivers in a layer, from 1, whose edges are
// returned. The edges of a receiver are neighbours. Where several messages attain a maximum or minimum, its gradient
// is shared evenly among them, which Backward does not do. It is not for A*Net's policies, see SenderPriorities.
//
// into is a buffer, whose contents are undefined afterwards. Memory: 24 bytes an edge.
func (p *Propagator) EdgeGradients(ctx context.Context, entity int32, gradient []float32, into *Gradients, keep func(layer int, receiver int32) bool) ([][]Edge, error) {
	if !p.query.Training || p.astar != nil {
		return nil, errors.New("propagating gradients to edges: the last query was not for training, or the policy has priorities")
	}
	into.zero()
	p.edges = &edgeRecorder{keep: keep, layers: make([][]Edge, p.configuration.Layers)}
	defer func() { p.edges = nil }()
	p.loadGradients([]int32{entity}, gradient)
	for t := p.configuration.Layers; t >= 1; t-- {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if p.windowed() {
			p.backwardWindowLayer(t, into)
		} else {
			p.backwardFullLayer(t, into)
		}
	}
	return p.edges.layers, nil
}

// SenderPriorities returns the edges that the layers of the last Forward sent along, of layer t at t-1, with the
// sigmoids of their senders' priorities, divided by the largest in the layer. A*Net's authors weigh paths by them
// (arXiv 2206.04798, section 4.4). It is for A*Net's policies only; keep is as for EdgeGradients.
func (p *Propagator) SenderPriorities(keep func(layer int, receiver int32) bool) [][]Edge {
	a := p.astar
	entities := make([]int32, 2, a.versions) // by version; nothing sends version 0
	entities[1] = p.query.Source
	layers := make([][]Edge, len(a.layers))
	for i := range a.layers {
		layer := &a.layers[i]
		largest := 0.0
		for row, receiver := range layer.entities {
			begin, end := layer.edges.Range(int32(row), 1)
			kept := keep(i+1, receiver)
			for e := begin; e < end; e++ {
				version := layer.senders[layer.edges.Rows[e]]
				value := float64(sigmoid(a.priorities[version]))
				largest = math.Max(largest, value)
				if kept {
					layers[i] = append(layers[i], Edge{entities[version], layer.edges.Relations[e], receiver, value})
				}
			}
		}
		for j := range layers[i] {
			layers[i][j].Value /= largest
		}
		entities = append(entities, layer.entities...)
	}
	return layers
}

// aggregateEdgesBackward is the kernel's AggregateBackward for some receivers of a group, which records the edges.
func (p *Propagator) aggregateEdgesBackward(x *layerUpdate, group *receiverGroup, r *kernel.Receivers, features, gradient []float32) {
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
		// In a window, a sender is reached before the layer where its kind is not above the receiver's age.
		if p.windowed() && kind <= group.age || !p.windowed() && int(p.searched()[sender]) < t {
			edges = append(edges, Edge{sender, r.Senders.Relations[e], x.entities[row], float64(value)})
		}
	})
	p.edges.layers[x.layer] = edges
}
