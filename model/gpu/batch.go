package gpu

import "tagnet/model/graph"

//go:generate go run ./generate

// encodedQuery is the kernels' struct Query.
type encodedQuery struct {
	Source, Relation, Inverse, Answer int32
	Removal                           int32 // 0: nothing, 1: the fact's two edges, 2: all edges between source and answer
	SourceDrop, AnswerDrop            int32 // in-edges that the ends lose
	Candidates                        int32
	Embedding, Table                  int32 // the row of its relation's embedding, and which tables of relation embeddings it reads, where these depend on the query
	Seed                              uint64
}

// encode returns a query for the kernels, in the graph without the edges of a removal.
func (e *engine) encode(source, relation int32, r graph.Removal) encodedQuery {
	q := encodedQuery{Source: source, Relation: relation, Inverse: e.graph.Inverse(relation), Answer: -1}
	if r.Active {
		q.Answer, q.Removal = r.Answer, 1+flag(r.OneHop)
		q.SourceDrop = int32(e.graph.Degree(source) - e.graph.DegreeWithout(source, r))
		q.AnswerDrop = int32(e.graph.Degree(r.Answer) - e.graph.DegreeWithout(r.Answer, r))
	}
	return q
}

// scale is the kernels' struct Scale: 1 / (degree + 1) and the scalers c and 1 / max(c, 0.01).
type scale struct{ Divisor, Up, Down, _ float32 }

// link is the kernels' struct Link.
type link struct{ Sender, Inverse, Reverse, Slot int32 }

// labeledAnswer is the kernels' struct Answer.
type labeledAnswer struct{ Query, Entity int32 }

// querySize is the size of an encodedQuery, and badSize the bytes of Batch.bad: messages of 8 bytes follow it.
const (
	querySize = 48
	badSize   = 8
)

// rowSize is the size of the kernels' struct Row.
const rowSize = 32
