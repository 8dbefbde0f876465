package propagation

import "tagnet/model/engine/relations"

// embeddings are the embeddings that the last query reads, its lanes side by side.
type embeddings struct {
	query     []float32   // [lanes, dim]
	relations [][]float32 // by layer, [2R, lanes, dim]
	buffers   relations.Buffers
}

// load looks up the embeddings for the propagator's query.
func (e *embeddings) load(p *runner) {
	e.query = e.query[:0]
	for _, relation := range p.relations {
		e.query = append(e.query, p.weights.Relations.Query(relation)...)
	}
	e.relations = p.weights.Relations.Tables(p.relations, &e.buffers)
}
