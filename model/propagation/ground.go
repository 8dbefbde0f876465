package propagation

import (
	"context"
	"fmt"

	"tagnet/model/internal/buffer"
	"tagnet/model/internal/stack"
	"tagnet/model/parallel"
	"tagnet/model/relations"
	"tagnet/model/window"
)

// Ground is the propagation of the policy full without a source, for queries whose relations have the same tables: its states are
// ground states. Queries with a ground propagate the differences of their states to them (differences.go), which takes updates
// that are linear up to the layer norm: sums of DistMult messages (configuration.HasGround). A query of another kind may have a
// Background instead.
//
// Its Forward must not run beside a query's. Memory: 4 · V · dim bytes a layer, and for three more.
type Ground struct {
	propagator *Propagator
	weights    *Weights
	group      int32          // of the relations, see relations.Source
	layout     *window.Layout // all entities, by rank
	layers     []stack.Layer
	tables     [][]float32 // of messages, by layer, [2R, dim]
	// shared have the outputs of the layers' linear maps for the ground states, without the bias, [V, dim], by rank.
	shared [][]float32
	// final has the ground states after the last layer, middle those after middleLayer, [V, dim] each, by rank.
	final, middle []float32
	next          []float32 // a second table of states while they are computed
	buffers       []*stack.Buffers
}

// NewGround returns an empty ground for p and its clones.
func NewGround(p *Propagator) *Ground {
	layers := p.configuration.Layers
	return &Ground{propagator: p, layout: window.NewLayout(p.graph, p.kernel, p.layout), layers: make([]stack.Layer, layers), shared: make([][]float32, layers)}
}

// Forward computes what queries of a relation share, on so many threads. It checks ctx before each layer.
func (g *Ground) Forward(ctx context.Context, w *Weights, relation int32, threads int) error {
	p := g.propagator
	if !p.configuration.HasGround() {
		return fmt.Errorf("propagating a ground: policy %s with aggregate %s and relations %s has none", p.configuration.Policy, p.configuration.Aggregate, p.configuration.Source())
	}
	if g.weights == nil {
		g.layout.FillAll(p.query.Removal)
		g.layout.All() // lists the rows, which are then only read
	}
	g.weights, g.group = w, w.Relations.Group(relation)
	g.tables = w.Relations.Tables([]int32{relation}, new(relations.Buffers))
	k, d := p.kernel, p.configuration.Dim
	for len(g.buffers) < max(1, threads) {
		g.buffers = append(g.buffers, stack.NewBuffers(d))
	}
	size := p.graph.Entities * d
	x, next := buffer.Cleared(g.final, size), buffer.Resize(g.next, size)
	for t := range g.layers {
		if err := canceled(ctx); err != nil {
			return err
		}
		g.layers[t], g.shared[t] = w.stacked(t), buffer.Resize(g.shared[t], size)
		r := stack.Receivers(d, g.layout.Senders, x, g.tables[t])
		r.Previous = x
		u := stack.Update{Layer: &g.layers[t], Receivers: r, Output: next, Keep: g.shared[t]}
		rows := g.layout.All()
		parallel.Workers(max(1, threads), (len(rows)+stack.BlockRows-1)/stack.BlockRows, func(worker, block int) {
			u := u
			u.Receivers.Rows = rows[block*stack.BlockRows : min(len(rows), (block+1)*stack.BlockRows)]
			g.buffers[worker].Run(k, u)
		})
		x, next = next, x
		if t+1 == middleLayer {
			g.middle = append(g.middle[:0], x...)
		}
	}
	g.final, g.next = x, next
	return nil
}

// Final calls visit with all entities in groups, and their ground states after the last layer, [len(entities), dim].
func (g *Ground) Final(visit func(entities []int32, states []float32)) {
	visitStates(g.layout.Entities, g.final, visit)
}

// visitStates calls visit with entities and their states, so many at a time that what a head computes of them stays in the
// first-level cache.
func visitStates(entities []int32, states []float32, visit func(entities []int32, states []float32)) {
	const most = 48
	d := len(states) / max(1, len(entities))
	for first := 0; first < len(entities); first += most {
		end := min(first+most, len(entities))
		visit(entities[first:end], states[first*d:end*d])
	}
}

// stacked returns the parameters of a layer, from 0, that adds messages up.
func (w *Weights) stacked(t int) stack.Layer {
	l := &w.layers[t]
	return stack.Layer{Map: stack.Map{Matrix: l.maps[0], Bias: l.bias}, Scale: l.scale, Shift: l.shift}
}
