package propagation

import (
	"context"

	"tagnet/model/graph"
	"tagnet/model/internal/buffer"
	"tagnet/model/internal/stack"
	"tagnet/model/kernel"
	"tagnet/model/window"
)

// differences is the policy full for queries with a Ground. An entity that nothing has reached has a state, which depends on its
// surroundings. But before the layer in which something from the source arrives it is the ground state, exactly. So the difference
// to the ground states, which is zero there, is propagated. On the chain s - a - b - c, with x for a difference and 0 for none:
//
//	layer  s  a  b  c
//	0      x  0  0  0
//	1      x  x  0  0   sent: s to a
//	2      x  x  x  0   sent: s to a, a to s, a to b
//
// In layer 2, a's update reads the difference from s, and b's from a. The sum of all messages to a is that of the ground states
// and that of the differences, and the update's linear map is linear: its output is that for the ground states, which the ground
// has, plus that for the differences. Layer norm and ReLU are not linear, so both are normalized (kernel.NormalizeDifference).
//
// So nothing is approximated, and the messages that are sent are those of a window without a bound (package window): with ULTRA on
// average 3.7% of all on WN18RR, 58% on FB15k-237. Where three layers reach most of the graph, differences have no advantage any
// more, and the later layers update all entities. What a query does not reach has ground states.
//
// With a radius, entities farther from the source keep their ground states in all layers: an approximation.
type differences struct {
	*runner
	search *window.Layout
	source int32 // of the layout
	found  bool  // the layout belongs to source, and is that of a propagation
	radius int
	// whole reports that the layout ends after middleLayer hops, within which nearly all entities are: later layers update all
	// entities of the graph.
	whole bool
	// states are, before and after a layer, the differences of entities' states to the ground states, by row of the layout; of a
	// whole graph after middleLayer the states themselves, by rank. In the end they are the states themselves.
	states, next []float32
	buffers      *stack.Buffers
}

func newDifferences(r *runner) *differences {
	return &differences{runner: r, search: window.NewLayout(r.graph, r.kernel, r.layout), buffers: stack.NewBuffers(r.configuration.Dim)}
}

// middleLayer is the layer after which differences to the ground states are replaced by the states themselves where nearly all
// entities differ: the few messages of ground states that are sent then take less time than reading the ground states.
const middleLayer = 3

func (p *differences) propagatesTwo() bool { return false }

func (p *differences) width() int { return p.configuration.Dim }

func (p *differences) distance(entity int32) (hops int, reached bool) {
	if p.whole && p.found && p.search.Row(entity) == kernel.NoRow {
		p.fill(p.configuration.Layers, p.configuration.Layers)
		p.found = false // the next query lays out less
	}
	row := p.search.Row(entity)
	if row == kernel.NoRow {
		return 0, false
	}
	return p.search.Distance(row), true
}

// searchFrom lays out what the source reaches.
func (p *differences) searchFrom(source int32, radius int) {
	layers := p.configuration.Layers
	p.source, p.radius, p.found = source, radius, true
	p.whole = false
	if radius == layers && layers > middleLayer {
		p.fill(middleLayer, middleLayer)
		p.whole = 4*p.search.Count() > 3*p.graph.Entities
	}
	if !p.whole {
		p.fill(radius, layers)
	}
}

// fill lays out the entities at most hops away, and the senders that they hear within some layers.
func (p *differences) fill(hops, layers int) {
	p.search.Heard = layers
	p.search.Fill(p.source, hops, p.configuration.Layers, 0, graph.Removal{})
}

// forward computes the final states of what the source reaches.
//
// Before layer t, the difference of an entity at distance t or more is zero. So in layer t an entity at distance t has messages
// from its parents alone, one at distance t-1 from its siblings too, and all others from their children too.
func (p *differences) forward(ctx context.Context) error {
	radius := p.query.Radius
	if radius == 0 {
		radius = p.configuration.Layers
	}
	if !p.found || p.source != p.query.Source || p.radius != radius {
		begin := p.clock()
		p.searchFrom(p.query.Source, radius)
		p.since(begin, layoutPhase)
	}
	d := p.configuration.Dim
	p.states, p.next = buffer.Resize(p.states, p.search.Count()*d), buffer.Resize(p.next, p.search.Count()*d)
	copy(p.states, p.embeddings.query) // the source has row 0
	for t := 1; t <= p.configuration.Layers; t++ {
		if err := canceled(ctx); err != nil {
			return err
		}
		if p.whole && t > middleLayer {
			p.updateAll(t)
			continue
		}
		p.updateRows(t, 0, 1, p.embeddings.query)
		nearer := min(t-1, radius+1) // levels whose entities have messages of all kinds
		if nearer > 1 {
			p.updateRows(t, 1, nearer, nil)
		}
		for level := max(1, t-1); level <= min(t, radius); level++ {
			p.updateRows(t, level, level+1, nil)
		}
		p.states, p.next = p.next, p.states
	}
	if !p.whole {
		p.addGround(p.query.Ground.final)
	}
	return nil
}

// addGround adds ground states, [V, dim] by rank, to the differences.
func (p *differences) addGround(ground []float32) {
	for row, rank := range p.search.Ranks() {
		p.kernel.Add(p.state(p.states, int32(row)), p.state(ground, rank))
	}
}

func (p *differences) state(table []float32, row int32) []float32 {
	return stack.Row(table, p.configuration.Dim, row)
}

// updateAll updates all entities in layer t. Before the first such layer it adds the differences to the ground states.
func (p *differences) updateAll(t int) {
	g, d := p.query.Ground, p.configuration.Dim
	if t == middleLayer+1 {
		differences := p.states
		p.states = buffer.Resize(p.next, p.graph.Entities*d)
		copy(p.states, g.middle)
		for row, rank := range p.search.Ranks() {
			p.kernel.Add(p.state(p.states, rank), p.state(differences, int32(row)))
		}
		p.next = buffer.Resize(differences, len(p.states))
	}
	rows, r := g.layout.All(), stack.Receivers(d, g.layout.Senders, p.states, g.tables[t-1])
	r.Previous = p.states
	u := stack.Update{Layer: &g.layers[t-1], Receivers: r, Output: p.next}
	source := int(p.search.Ranks()[0])
	for _, part := range aroundSource(source, len(rows)) {
		u.Receivers.Rows, u.Receivers.Initial = rows[part[0]:part[1]], nil
		if part[0] == source && part[1] == source+1 {
			u.Receivers.Initial = p.embeddings.query
		}
		p.buffers.Run(p.kernel, u)
	}
	p.sent += p.graph.Edges()
	p.updated += int64(len(rows))
	p.states, p.next = p.next, p.states
}

// updateRows updates the entities of levels from to to-1, which are equally far from the layer's farthest ones or have messages of
// all kinds. initial is the boundary of the source.
func (p *differences) updateRows(t, from, to int, initial []float32) {
	g, l := p.query.Ground, p.search
	rows := l.All()[l.Levels[from]:l.Levels[to]]
	r := stack.Receivers(p.configuration.Dim, l.Senders, p.states, g.tables[t-1])
	r.Rows, r.Kinds, r.Initial = rows, min(t-from, 2)+1, initial
	if from < t {
		r.Previous = p.states
	}
	for level := from; level < to; level++ {
		p.sent += l.Messages(level, r.Kinds)
	}
	p.updated += int64(len(rows))
	p.buffers.Run(p.kernel, stack.Update{Layer: &g.layers[t-1], Receivers: r, Output: p.next, Shared: g.shared[t-1], Ranks: l.Ranks()})
}

// reached visits what the source reaches: all others have the states of Ground.Final.
func (p *differences) reached(_ int, visit func(entities []int32, states [][]float32)) {
	entities := p.search.Entities
	if p.whole {
		entities = p.query.Ground.layout.Entities
	}
	table := make([][]float32, 1)
	visitStates(entities, p.states, func(entities []int32, states []float32) {
		table[0] = states
		visit(entities, table)
	})
}

func (p *differences) candidates(entities []int32, states []float32, valid []int32) {
	for i, entity := range entities {
		of, row := p.states, p.search.Row(entity)
		if ground := p.query.Ground; p.whole || row == kernel.NoRow {
			row = ground.layout.Row(entity)
			if !p.whole {
				of = ground.final
			}
		}
		copy(p.state(states, int32(i)), p.state(of, row))
		valid[i] = 1
	}
}

// backward is not called: queries with a ground are not for training.
func (p *differences) backward([]int32, []float32, *Gradients) {
	panic("propagation: a query with a ground has no backward pass")
}
