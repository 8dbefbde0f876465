package parts

import "tagnet/model/graph"

// Block is the edges that enter a range of a graph's entities. It answers a Partial's Wants, and makes pieces of parts. It reuses its
// buffers and is not for concurrent use.
type Block struct {
	first  int32
	edges  *graph.Graph // whose entity 0 is first; senders are entities of the graph
	finder Finder
}

// NewBlock returns a block. Entity first+i of the graph is entity i of edges, whose senders have the ids of the graph.
func NewBlock(first int32, edges *graph.Graph) *Block { return &Block{first: first, edges: edges} }

// Answer returns the wanted list of an entity of the block in the graph of a query.
func (b *Block) Answer(w Request, q graph.Query) List {
	touched := q.Touches(w.Entity)
	senders, relations := b.edges.In(w.Entity - b.first)
	l := List{Degree: int32(len(senders))}
	left := func(i int) bool { return !touched || !b.edges.Removes(q, senders[i], relations[i], w.Entity) }
	if touched {
		for i := range senders {
			if !left(i) {
				l.Degree--
			}
		}
	}
	all := l.Degree <= w.Edges
	for i, sender := range senders {
		if !all && len(l.Senders) >= int(w.Senders) {
			break
		}
		if left(i) && (all || len(l.Senders) == 0 || l.Senders[len(l.Senders)-1] != sender) {
			l.Senders = append(l.Senders, sender)
		}
	}
	return l
}

// Answers returns the entities to which a relation leads from an entity of the block, ascending.
func (b *Block) Answers(source, relation int32) []int32 {
	return b.edges.Answers(source-b.first, relation)
}

// Induce sets into to a piece of a part with these entities: the edges that enter some of them, a run that belongs to the block, and their
// degrees in the whole graph.
func (b *Block) Induce(entities, some []int32, into *Subgraph) {
	into.Entities = entities
	b.finder.induce(b.edges, b.first, some, into)
}

// Join appends the next piece of a part, as Induce made it, to the pieces of the blocks before. The first piece is joined to a part that
// has only entities.
func (s *Subgraph) Join(piece Subgraph) {
	if len(s.Offsets) == 0 {
		s.Offsets = append(s.Offsets, 0)
	}
	before := s.Offsets[len(s.Offsets)-1]
	for _, end := range piece.Offsets[1:] {
		s.Offsets = append(s.Offsets, before+end)
	}
	s.Senders, s.Relations, s.Degrees = append(s.Senders, piece.Senders...), append(s.Relations, piece.Relations...), append(s.Degrees, piece.Degrees...)
}

// Finish sets the query, with one answer, of a part whose pieces are joined. without is the degree of its source in its graph.
func (s *Subgraph) Finish(q graph.Query, without int32) {
	if s.begin(q).Removal != graph.RemoveNothing {
		s.Degrees[s.Source] = without
	}
}
