package gpu

import "tagnet/model/graph"

//go:generate go run ./generate

// encodedQuery is the kernels' struct Query.
type encodedQuery struct {
	Source, Relation, Inverse, Answer int32
	Removal                           int32 // graph.Removals
	SourceDrop, AnswerDrop            int32 // in-edges that the ends lose
	Candidates                        int32
	// the row of its relation's embedding, and which tables of relation embeddings it reads, where these
	// depend on the query
	Embedding, Table int32
	Seed             uint64
}

// encode returns a query for the kernels.
func (e *engine) encode(q graph.Query) encodedQuery {
	encoded := encodedQuery{Source: q.Source, Relation: q.Relation, Inverse: e.graph.Inverse(q.Relation), Answer: graph.None}
	if q.Removal != graph.RemoveNothing {
		encoded.Answer, encoded.Removal = q.Answer, int32(q.Removal)
		encoded.SourceDrop = int32(e.graph.Degree(q.Source) - e.graph.DegreeWithout(q.Source, q))
		encoded.AnswerDrop = int32(e.graph.Degree(q.Answer) - e.graph.DegreeWithout(q.Answer, q))
	}
	return encoded
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
