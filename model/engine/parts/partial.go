package parts

import (
	"math"
	"slices"

	"tagnet/model/graph"
)

// Partial finds the entities of parts of a graph that arrives in lists: it repeats the search of a Finder on the lists
// so far, and returns the lists that its next hop lacks. A part that a Finder of the whole graph finds has the same
// entities. It takes at most Rounds(hops) rounds of lists. It reuses its buffers and is not for concurrent use.
type Partial struct {
	finder Finder
	lists  arriving
}

// Rounds returns the largest number of rounds of lists that a search of a number of hops takes: each push wants the
// lists of its next hop, and the search that may cover all follows a hop later, unless the pushes have shown by then
// that there are too many entities.
func Rounds(hops int) int { return hops + 1 }

// ListRequest asks for an entity: for the edges that enter it, without removed ones.
type ListRequest struct {
	Entity int32
	// Edges is the highest degree with which all edges are requested.
	Edges int32
	// Senders, of an entity of a higher degree, is how many of its senders are requested, or all if it has fewer.
	Senders int32
}

// SenderList describes an entity in the graph of a query, without removed edges: its degree, and the senders of all its
// edges, ascending, or distinct ones of some of them. An EdgeBlock makes it.
type SenderList struct {
	Degree  int32
	Senders []int32
}

// whole reports whether a list has all edges.
func (l SenderList) whole() bool { return len(l.Senders) == int(l.Degree) }

// arriving holds the lists that have arrived, of one query's graph.
type arriving struct {
	known     map[int32]SenderList
	requested map[int32]ListRequest
	missed    int
	hops      int   // up to which cover may want lists
	most      int32 // senders show that cover fails
}

// upTo returns the degree of an entity, and its senders if there are at most limit. What has not arrived is recorded as
// requested, and the result is empty.
func (a *arriving) upTo(entity int32, limit uint64) (degree int, senders []int32) {
	edges := int32(min(limit, math.MaxInt32))
	l, there := a.known[entity]
	switch {
	case there && l.Degree > edges:
		return int(l.Degree), nil
	case there && l.whole():
		return int(l.Degree), l.Senders
	}
	a.missed++
	w := a.requested[entity]
	a.requested[entity] = ListRequest{entity, max(w.Edges, edges), w.Senders}
	return 0, nil
}

// around returns the senders of an entity at a hop. What has not arrived is recorded as requested, up to the last hop.
func (a *arriving) around(entity int32, hop int) (senders []int32) {
	l, there := a.known[entity]
	if there && (l.whole() || len(l.Senders) > 0) {
		return l.Senders
	}
	a.missed++
	if hop < a.hops {
		w := a.requested[entity]
		a.requested[entity] = ListRequest{entity, w.Edges, a.most}
	}
	return nil
}

// NewPartial returns a Partial for parts as NewFinder's Finder finds them.
func NewPartial(most, hops int) *Partial {
	p := &Partial{finder: Finder{most: max(1, most), hops: hops}}
	p.lists.most = int32(min(max(1, most)+1, math.MaxInt32))
	p.finder.arriving = &p.lists
	return p
}

// Entities returns the entities of the part of a source, ascending, in the graph whose lists are known, by entity. If
// lists are missing it returns the requests for them, ascending, and no entities.
func (p *Partial) Entities(source int32, known map[int32]SenderList) (entities []int32, requested []ListRequest) {
	p.lists.known, p.lists.requested, p.lists.missed = known, map[int32]ListRequest{}, 0
	entities, pushed, many := p.push(source)
	if !many {
		p.lists.hops = pushed
		covers, sure := p.finder.cover(graph.Query{Source: source})
		switch {
		case covers:
			entities = slices.Clone(p.finder.found.entities)
		case !sure:
			entities = nil
		}
	}
	if entities != nil {
		slices.Sort(entities)
		return entities, nil
	}
	for _, w := range p.lists.requested {
		requested = append(requested, w)
	}
	slices.SortFunc(requested, func(a, b ListRequest) int { return int(a.Entity - b.Entity) })
	return nil, requested
}

// push makes the pushes of Finder.pushTo, both at once. It returns the entities that they choose, if they are complete,
// up to which hop cover may follow, and whether more entities are within the hops than the part may have.
func (p *Partial) push(source int32) (entities []int32, hops int, many bool) {
	f := &p.finder
	hops, complete := f.push(graph.Query{Source: source}, f.floor(), math.MaxInt)
	if len(f.scores) < f.most {
		again, both := f.push(graph.Query{Source: source}, f.floor()/relief, plenty*f.most)
		hops, complete = min(hops, again), both && complete
	}
	if complete {
		entities, hops = f.choose([]int32{}), f.hops
	}
	return entities, hops, len(f.scores) > f.most
}
