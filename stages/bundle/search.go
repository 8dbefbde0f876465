package bundle

import (
	"fmt"
	"maps"
	"slices"

	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// search is the search of a part, with its queries.
type search struct {
	file, files        int // the part goes into the file of this number, of so many
	source             int32
	numbers            []int64
	relations, answers []int32 // relation and answer of each query
	known              map[int32]parts.SenderList
	entities           []int32 // of the part, once they are found; known then has the source alone
}

// key returns the search's key in the rounds, the number of its first query.
func (s *search) key() int { return int(s.numbers[0]) }

func (s *search) encode() []byte {
	var e encoder
	e.numbers(s.file, s.files, int(s.source))
	lists(&e, s.numbers)
	lists(&e, s.relations, s.answers, s.entities)
	encodeLists(&e, s.known)
	return e.bytes
}

// decodeSearch is the inverse of encode.
func decodeSearch(element []byte) (*search, error) {
	d := &decoder{bytes: element}
	s := &search{file: int(d.number()), files: int(d.number()), source: int32(d.number()), numbers: listOf[int64](d), relations: listOf[int32](d),
		answers: listOf[int32](d), entities: listOf[int32](d), known: map[int32]parts.SenderList{}}
	decodeLists(d, s.known)
	if d.err == nil && (len(s.numbers) == 0 || len(s.relations) != len(s.numbers) || len(s.answers) != len(s.numbers)) {
		d.err = errElement
	}
	return s, d.err
}

// encodeLists writes lists in the order of their entities.
func encodeLists(e *encoder, known map[int32]parts.SenderList) {
	entities := slices.Sorted(maps.Keys(known))
	lists(e, entities)
	for _, entity := range entities {
		e.numbers(int(known[entity].Degree))
		lists(e, known[entity].Senders)
	}
}

// decodeLists adds the lists of an element to lists.
func decodeLists(d *decoder, lists map[int32]parts.SenderList) {
	for _, entity := range listOf[int32](d) {
		lists[entity] = parts.SenderList{Degree: int32(d.number()), Senders: listOf[int32](d)}
	}
}

func (p Params) query(s *search) graph.Query {
	return graph.Query{Source: s.source, Relation: s.relations[0], Answer: s.answers[0], Removal: configuration.Removal(p.Header.Remove)}
}

// request asks a block for the lists of edges that a search needs next, or for the piece of its part, with the known
// answers of its queries if the block has their source.
type request struct {
	search      int // its key
	file        int // of a piece
	graph.Query     // the first one of the search
	requested   []parts.ListRequest
	entities    []int32 // of the part, if a piece is requested
	relations   []int32 // ascending, distinct: those of the source whose known answers are requested
}

func (r *request) encode() []byte {
	var e encoder
	e.numbers(r.search, r.file, int(r.Source), int(r.Relation), int(r.Answer), int(r.Removal), len(r.requested))
	for _, w := range r.requested {
		e.numbers(int(w.Entity), int(w.Edges), int(w.Senders))
	}
	lists(&e, r.entities, r.relations)
	return e.bytes
}

// decodeRequest is the inverse of encode.
func decodeRequest(element []byte) (*request, error) {
	d := &decoder{bytes: element}
	r := &request{search: int(d.number()), file: int(d.number())}
	r.Query = graph.Query{Source: int32(d.number()), Relation: int32(d.number()), Answer: int32(d.number()), Removal: graph.Removals(d.number())}
	for n := d.number(); n > 0 && d.err == nil; n-- {
		r.requested = append(r.requested, parts.ListRequest{Entity: int32(d.number()), Edges: int32(d.number()), Senders: int32(d.number())})
	}
	r.entities, r.relations = listOf[int32](d), listOf[int32](d)
	return r, d.err
}

// advance continues a search with the lists it has, and returns its next requests by block: none once the entities of
// the part are found.
func (p Params) advance(finder *parts.Partial, s *search) map[int]*request {
	if s.entities != nil {
		return nil
	}
	entities, requested := finder.Entities(s.source, s.known)
	if entities != nil {
		s.entities, s.known = entities, map[int32]parts.SenderList{s.source: s.known[s.source]}
		return nil
	}
	requests := map[int]*request{}
	for _, w := range requested {
		r := p.request(requests, s, w.Entity)
		r.requested = append(r.requested, w)
	}
	return requests
}

func (p Params) request(requests map[int]*request, s *search, entity int32) *request {
	block := p.blockOf(entity)
	if requests[block] == nil {
		requests[block] = &request{search: s.key(), file: s.file, Query: p.query(s)}
	}
	return requests[block]
}

// pieces returns requests of the pieces of a part whose entities are found.
func (p Params) pieces(s *search) (map[int]*request, error) {
	if s.entities == nil {
		return nil, fmt.Errorf("the search of source %d has not ended after %d rounds", s.source, parts.Rounds(p.Header.Layers))
	}
	requests := map[int]*request{}
	for _, entity := range s.entities {
		p.request(requests, s, entity).entities = s.entities
	}
	p.request(requests, s, s.source).relations = slices.Compact(slices.Clone(s.relations))
	return requests, nil
}
