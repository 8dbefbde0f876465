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

// Ground returns the ground states after a layer, by entity, [V, 64].
func (m *Model) Ground(b *Base, layer int) []float32 {
	states := make([]float32, m.graph.Entities*Dim)
	for rank, o := range m.layout.Entities {
		for t := range layer {
			for j, v := range rowOf(b.layers[t].fall, int32(rank)) {
				rowOf(states, o)[j] -= v
			}
		}
	}
	return states
}
