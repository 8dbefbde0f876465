package ultra

// Relations returns the final states of the relations, [2R, 64].
func (b *Base) Relations() []float32 { return b.relations }

// Table returns the rows of messages of a layer from 1 on, in the order of the weights, [2R, 64].
func (m *Model) Table(b *Base, layer int) []float32 {
	table := make([]float32, len(b.relations))
	for r := range int32(m.graph.RelationCount()) {
		copy(rowOf(table, r), rowOf(b.tables[layer-1], m.inverse(r)))
	}
	return table
}

// Ground returns the ground states after the last layer, by entity, [V, 64].
func (m *Model) Ground(b *Base) []float32 {
	states := make([]float32, m.graph.Entities*Dim)
	for rank, o := range m.layout.Entities {
		copy(rowOf(states, o), rowOf(b.ground, int32(rank)))
	}
	return states
}

// Plain propagates queries in the plain way, with the same kernels: every message of every layer.
type Plain struct {
	model   *Model
	x, next []float32
	buffers *buffers
}

func (m *Model) Plain() *Plain {
	size := m.graph.Entities * Dim
	return &Plain{model: m, x: make([]float32, size), next: make([]float32, size), buffers: newBuffers()}
}

// Scores sets scores, [V], to the logit of every entity.
func (p *Plain) Scores(b *Base, source, relation int32, scores []float32) {
	m, query, row := p.model, b.state(relation), int(p.model.layout.Row(source))
	clear(p.x)
	copy(rowOf(p.x, int32(row)), query)
	rows := m.layout.All()
	for t := range Layers {
		r := receivers(m.layout.Senders, p.x, b.tables[t])
		r.Previous = p.x
		u := update{layer: &m.weights.entities[t], receivers: r, output: p.next}
		for _, others := range [][]int32{rows[:row], rows[row+1:]} {
			u.receivers.Rows = others
			p.buffers.run(m.kernel, u)
		}
		u.receivers.Rows, u.receivers.Initial = rows[row:row+1], query
		p.buffers.run(m.kernel, u)
		p.x, p.next = p.next, p.x
	}
	shift := b.queries[0].shift
	if relation != b.relation {
		shift = b.queries[1].shift
	}
	for from := 0; from < len(rows); from += blockRows {
		to := min(from+blockRows, len(rows))
		p.buffers.score(m, shift, p.x[from*Dim:to*Dim], m.layout.Entities[from:], scores)
	}
}
