package mirror

import "tagnet/formats/reach"

// Query is the kernels' struct Query, in the same layout.
type Query struct {
	Source, Relation, Inverse, Answer int32
	Removal                           int32 // 0: nothing, 1: the fact's two edges, 2: all edges between source and answer
	SourceDrop, AnswerDrop            int32 // in-edges that the ends lose
	Candidates                        int32
	Embedding, Table                  int32 // the row of its relation's embedding, and which tables it reads, where these depend on the query
	Members                           int32 // entities that it propagates through, where there is a reach
	Seed                              uint64
}

// Row is the kernels' struct Row: the update of an entity in a layer, for a query.
type Row struct {
	Query, Entity    int32
	Begin, End       int32 // in-edges
	Degree, Distance int32
	Flags, Slot      int32 // Slot: 1 + the index among the candidates, while training
}

// Flags of a row.
const (
	source  = 1 // the query's source
	touched = 2 // an entity that removed edges may enter or leave
)

// Link is the kernels' struct Link: an edge's sender, its relation's inverse, the index of its inverse, and its slot.
type Link struct{ Sender, Inverse, Reverse, Slot int32 }

// Span is the kernels' struct Span: successive strips of rows of equal degree.
type Span struct{ Strip, Rows int32 }

// Answer is the kernels' struct Answer: an entity to rank as the answer of a query.
type Answer struct{ Query, Entity int32 }

// Scale is the kernels' struct Scale: 1 / (degree + 1) and the scalers c and 1 / max(c, 0.01).
type Scale struct{ Divisor, Up, Down, _ float32 }

// Reductions, as the kernels number them.
const (
	pna = iota
	sumOnly
	meanOnly
	maxOnly
)

const (
	unreached = reach.Unreached // UNREACHED of model.cuh
	heavy     = 512             // entities of higher degree are computed by a block, others by a warp
)

// lanes is the number of threads that hold a state, four dimensions each; a warp of 32 has as many teams of them as fit.
func (p *Batch) lanes() int { return p.Dim / 4 }
func (p *Batch) teams() int { return 32 / p.lanes() }

// hidden is the number of an MLP's hidden units.
func (p *Batch) hidden() int { return 2 * p.Dim }

// layer returns the parameters of layer t, from 1, and gradientsOf their gradients.
func (p *Batch) layer(t int) []float32       { return p.Parameters[(t-1)*p.LayerSize:] }
func (p *Batch) gradientsOf(t int) []float32 { return p.Gradients[(t-1)*p.LayerSize:] }

// stored returns the index of feature f under scaler s in the stored linear map's row, or -1 where it has none: the own state has one
// scaler, and so have reductions other than PNA.
func (p *Batch) stored(f, s int) int {
	switch {
	case p.Reduction == pna && f >= p.Dim:
		return p.Dim + (f%p.Dim*4+f/p.Dim-1)*3 + s
	case s == 0:
		return f
	}
	return -1
}

// hasExtremes reports whether single messages get a gradient because they attain an extreme.
func (p *Batch) hasExtremes() bool { return p.Reduction == pna || p.Reduction == maxOnly }

// storedColumns returns the length of a stored linear map's row.
func (p *Batch) storedColumns() int {
	if p.Reduction == pna {
		return 13 * p.Dim
	}
	return 2 * p.Dim
}

// lightRow returns the first row of a layer's light entities, which follow the heavy ones.
func (p *Batch) lightRow(t int) int { return int(p.HeavyEnd[t]) }
func (p *Batch) firstRow(t int) int { return int(p.RowBegin[t]) }
func (p *Batch) endRow(t int) int   { return int(p.RowBegin[t+1]) }

// features returns the features of row i of layer t: training keeps those of all layers.
func (p *Batch) features(t, i int) []float32 {
	if !p.Training {
		i -= p.firstRow(t)
	}
	return p.Features[i*p.Width:][:p.Width]
}

func (p *Batch) inverse(relation int32) int32 {
	half := int32(p.RelationCount / 2)
	if relation < half {
		return relation + half
	}
	return relation - half
}

// removes reports whether the edge u -r-> o is not in the query's graph.
func (q Query) removes(u, r, o int32) bool {
	switch {
	case q.Removal == 0:
		return false
	case u == q.Source && o == q.Answer && (q.Removal == 2 || r == q.Relation):
		return true
	}
	return u == q.Answer && o == q.Source && (q.Removal == 2 || r == q.Inverse)
}

// inEdges returns the range of an entity's in-edges.
func (p *Batch) inEdges(entity int32) (from, to int) {
	return int(p.Offsets[entity]), int(p.Offsets[entity+1])
}

// distance returns the distance of an entity that decides what layers update and send for query b.
func (p *Batch) distance(b int, entity int32) int { return int(p.Distances[b*p.Entities+int(entity)]) }

// reached returns how far an entity is from the source of query b.
func (p *Batch) reached(b int, entity int32) int { return int(p.Reached[b*p.Entities+int(entity)]) }

// active reports whether layer t updates an entity for query b.
func (p *Batch) active(t, b int, entity int32) bool {
	return p.Active[(t*p.Batch+b)*p.Entities+int(entity)] != 0
}

// lastAge returns the age of the final state of an entity at a distance.
func (p *Batch) lastAge(distance int) int { return min(p.Delta, p.Layers-distance) }

// state returns the state of an entity for query b at an age.
func (p *Batch) state(age, b int, entity int32) []float32 {
	return p.States[((age*p.Batch+b)*p.Entities+int(entity))*p.Dim:][:p.Dim]
}

// embedding returns the embedding of relation r for query b in layer t, from 1.
func (p *Batch) embedding(b, t int, r int32) []float32 {
	if p.DependentRelations {
		return p.Dependent[((int(p.Queries[b].Table)*p.Layers+t-1)*p.RelationCount+int(r))*p.Dim:][:p.Dim]
	}
	return p.layer(t)[p.RelationAt+int(r)*p.Dim:][:p.Dim]
}

// queryEmbedding returns the embedding of the relation of query b.
func (p *Batch) queryEmbedding(b int) []float32 {
	return p.QueryEmbeddings[int(p.Queries[b].Embedding)*p.Dim:][:p.Dim]
}

// put sets a gradient, or adds to it.
func put(to *float32, value float32, add bool) {
	if add {
		value = *to + value
	}
	*to = value
}

// blocks returns the number of chunks of a size that n elements take.
func blocks(n, size int) int { return (n + size - 1) / size }
