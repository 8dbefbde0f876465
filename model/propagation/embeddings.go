package propagation

import (
	"tagnet/model/configuration"
	"tagnet/model/internal/buffer"
)

// embeddings are the embeddings that the last query reads, those of its lanes side by side.
type embeddings struct {
	query     []float32   // [lanes, dim]
	relations [][]float32 // by layer, [2R, lanes, dim]
	degrees   [][]float32 // degree messages by layer, [lanes, dim], or nil

	dependent   [][]float32 // buffers for relations that depend on the query, by layer
	interleaved [][]float32 // buffers for those of two lanes, by layer
}

func newEmbeddings(c configuration.Configuration) embeddings {
	byLayer := func() [][]float32 { return make([][]float32, c.Layers) }
	return embeddings{
		query: make([]float32, 2*c.Dim), relations: byLayer(), degrees: byLayer(),
		dependent: byLayer(), interleaved: byLayer(),
	}
}

// load looks up the embeddings for the propagator's query.
func (e *embeddings) load(p *Propagator) {
	w, d := p.weights, p.configuration.Dim
	e.query = e.query[:p.rowLength()]
	for lane, relation := range p.relations {
		copy(e.query[lane*d:(lane+1)*d], w.Query(relation))
	}
	for t := range e.relations {
		e.degrees[t] = w.layers[t].degree
		if p.configuration.Dependent {
			e.dependent[t] = buffer.Resize(e.dependent[t], w.relations*d)
		}
		e.relations[t] = w.relationEmbeddings(p.kernel, t, p.relations[0], e.dependent[t])
		if p.lanes() == 2 {
			e.addLane(p, t)
		}
	}
}

// addLane puts the second lane's embeddings beside the first's, for a layer.
func (e *embeddings) addLane(p *Propagator, t int) {
	w, d := p.weights, p.configuration.Dim
	layer := &w.layers[t]
	e.degrees[t] = layer.degreeLanes
	if layer.relationLanes != nil {
		e.relations[t] = layer.relationLanes
		return
	}
	e.interleaved[t] = buffer.Resize(e.interleaved[t], 2*w.relations*d)
	interleave(e.interleaved[t], e.relations[t], 0, d)
	interleave(e.interleaved[t], w.relationEmbeddings(p.kernel, t, p.relations[1], e.dependent[t]), 1, d)
	e.relations[t] = e.interleaved[t]
}

// interleave copies rows of d entries into one lane of rows of two lanes.
func interleave(both, one []float32, lane, d int) {
	for i := 0; i < len(one); i += d {
		copy(both[2*i+lane*d:2*i+(lane+1)*d], one[i:i+d])
	}
}

// inBothLanes returns rows of d entries repeated for two lanes, in a buffer that it may replace.
func inBothLanes(both, one []float32, d int) []float32 {
	if one == nil {
		return nil
	}
	both = buffer.Resize(both, 2*len(one))
	interleave(both, one, 0, d)
	interleave(both, one, 1, d)
	return both
}
