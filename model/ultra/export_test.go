package ultra

// Relations returns the final states of the relations, [2R, 64].
func (m *Model) Relations(b *Base) []float32 {
	return m.relations.(interface{ States(base int32) []float32 }).States(b.relation)
}

// Table returns the rows of messages of a layer from 1 on, in the order of the weights, [2R, 64].
func (m *Model) Table(b *Base, layer int) []float32 {
	table := make([]float32, m.graph.RelationCount()*Dim)
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
	m, query, rank := p.model, p.model.relations.Query(relation), p.model.layout.Row(source)
	clear(p.x)
	copy(rowOf(p.x, rank), query)
	for t := 1; t <= Layers; t++ {
		m.updateAll(b, t, rank, query, p.x, p.next, p.buffers)
		p.x, p.next = p.next, p.x
	}
	shift := b.queries[0].shift
	if relation != b.relation {
		shift = b.queries[1].shift
	}
	p.buffers.score(m, shift, p.x, m.layout.Entities, scores)
}

// Whole reports whether the last query was propagated with whole states.
func (w *Worker) Whole() bool { return w.whole }
