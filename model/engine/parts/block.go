package parts

import "tagnet/model/graph"

// EdgeBlock is the edges that enter a range of a graph's entities. It answers ListRequests of a Partial, and makes
// pieces of parts. It reuses its buffers and is not for concurrent use.
type EdgeBlock struct {
	first  int32
	edges  *graph.Graph // whose entity 0 is first; senders are entities of the graph
	finder Finder
}

// NewEdgeBlock returns a block. Entity first+i of the graph is entity i of edges, whose senders have
// the ids of the graph.
func NewEdgeBlock(first int32, edges *graph.Graph) *EdgeBlock {
	return &EdgeBlock{first: first, edges: edges}
}

// SendersOf returns the list of an entity of the block in the graph of a query.
func (b *EdgeBlock) SendersOf(w ListRequest, q graph.Query) SenderList {
	senders, relations := b.edges.In(w.Entity - b.first)
	if q.Touches(w.Entity) {
		var left []int32
		for i, sender := range senders {
			if !b.edges.Removes(q, sender, relations[i], w.Entity) {
				left = append(left, sender)
			}
		}
		senders = left
	}
	l := SenderList{Degree: int32(len(senders))}
	all := l.Degree <= w.Edges
	for _, sender := range senders {
		if !all && len(l.Senders) >= int(w.Senders) {
			break
		}
		if all || len(l.Senders) == 0 || l.Senders[len(l.Senders)-1] != sender {
			l.Senders = append(l.Senders, sender)
		}
	}
	return l
}

// KnownAnswers returns the entities to which a relation leads from an entity of the block, ascending.
func (b *EdgeBlock) KnownAnswers(source, relation int32) []int32 {
	return b.edges.Answers(source-b.first, relation)
}

// Induced sets into to a piece of a part with these entities: the edges that enter some of them, a run that belongs to
// the block, and their degrees in the whole graph.
func (b *EdgeBlock) Induced(entities, some []int32, into *Subgraph) {
	into.Entities = entities
	b.finder.induce(b.edges, b.first, some, into)
}

// AppendPiece appends the next piece of a part, as Induced made it, to the pieces of the blocks before. The first piece
// is joined to a part that has only entities.
func (s *Subgraph) AppendPiece(piece Subgraph) {
	if len(s.Offsets) == 0 {
		s.Offsets = append(s.Offsets, 0)
	}
	before := s.Offsets[len(s.Offsets)-1]
	for _, end := range piece.Offsets[1:] {
		s.Offsets = append(s.Offsets, before+end)
	}
	s.Senders, s.Relations, s.Degrees = append(s.Senders, piece.Senders...), append(s.Relations, piece.Relations...), append(s.Degrees, piece.Degrees...)
}

// SetQuery sets the query, with one answer, of a part whose pieces are joined. without is the degree of its
// source in its graph.
func (s *Subgraph) SetQuery(q graph.Query, without int32) {
	if s.begin(q).Removal != graph.RemoveNothing {
		s.Degrees[s.Source] = without
	}
}
