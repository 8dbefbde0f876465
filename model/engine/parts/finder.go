package parts

import (
	"math"
	"slices"
	"sort"

	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// Finder finds the parts of one graph. It reuses its buffers and is not for concurrent use: each worker has its own.
//
// Memory: about 100 bytes for each entity that gets mass, of which there are at most Searched for each of the part.
type Finder struct {
	graph      *graph.Graph // or nil, if
	arriving   *arriving    // it arrives
	most, hops int

	found          table    // what is searched, then the part
	scores         []uint64 // by number, as the next two
	mass, incoming []uint64 // that the last hop brought, and that this one brings
	frontier, next []int32  // numbers
	ranked         []ranked
}

// Searched bounds the entities that get mass, for each of the part: plenty, and the entities of a last hop
// of the second push.
const Searched = plenty + edgesPerEntity*relief

// ranked is an entity with its score.
type ranked struct {
	score  uint64
	entity int32
}

// before reports whether an entity is chosen before another.
func (r ranked) before(o ranked) bool {
	return r.score > o.score || r.score == o.score && r.entity < o.entity
}

// NewFinder returns a finder of parts of g with up to most entities, up to hops hops from the source.
func NewFinder(g *graph.Graph, most, hops int) *Finder {
	return &Finder{graph: g, most: max(1, most), hops: hops}
}

// upTo returns the degree of an entity in the graph of a query, and if that is at most limit the edges that enter it,
// removed ones included. As every edge has an inverse, the entity also sends to all of them.
func (f *Finder) upTo(entity int32, limit uint64, q graph.Query) (degree int, senders, relations []int32) {
	if f.arriving != nil {
		degree, senders = f.arriving.upTo(entity, limit)
		return degree, senders, nil
	}
	if degree = f.graph.DegreeWithout(entity, q); uint64(degree) <= limit {
		senders, relations = f.graph.In(entity)
	}
	return degree, senders, relations
}

// around returns edges that enter an entity, for a hop of a search: from every sender, or from more senders than a part
// may have entities.
func (f *Finder) around(entity int32, hop int) (senders, relations []int32) {
	if f.arriving != nil {
		return f.arriving.around(entity, hop), nil
	}
	return f.graph.In(entity)
}

// missed returns the number of answers that were empty because lists have not arrived.
func (f *Finder) missed() int {
	if f.arriving != nil {
		return f.arriving.missed
	}
	return 0
}

// Entities returns the entities of the part of a query's source in its graph, ascending. It stores them in into, whose
// content it overwrites.
func (f *Finder) Entities(q graph.Query, into []int32) []int32 {
	into = into[:0]
	if covers, _ := f.cover(q); covers {
		into = append(into, f.found.entities...)
	} else {
		f.pushTo(q)
		into = f.choose(into)
	}
	slices.Sort(into)
	return into
}

// Find sets into to the part of a query's source in its graph. Its arrays are reused.
func (f *Finder) Find(q graph.Query, into *Subgraph) {
	into.Entities = f.Entities(q, into.Entities)
	f.Complete(q, into)
}

// Complete sets the edges and degrees of a part whose entities Entities returned.
func (f *Finder) Complete(q graph.Query, into *Subgraph) {
	f.induce(f.graph, 0, into.Entities, into)
	if outside := into.begin(q); outside.Removal != graph.RemoveNothing {
		into.Degrees[into.Source] = int32(f.graph.DegreeWithout(q.Source, outside))
	}
}

// cover finds the entities at most f.hops away. It gives up, and returns false, if they are more than the part may
// have. known is false if lists are missing that it needs.
func (f *Finder) cover(q graph.Query) (covers, known bool) {
	f.found.reset()
	f.found.add(q.Source)
	missed := f.missed()
	for hop, begin := 0, 0; hop < f.hops; hop++ {
		end := len(f.found.entities)
		for ; begin < end; begin++ {
			u := f.found.entities[begin]
			touched := q.Touches(u)
			neighbors, relations := f.around(u, hop)
			for i, o := range neighbors {
				if touched && f.graph.Removes(q, o, relations[i], u) {
					continue
				}
				if f.found.add(o); len(f.found.entities) > f.most {
					return false, true
				}
			}
		}
		if f.missed() > missed {
			return false, false
		}
	}
	return true, true
}

// pushTo pushes with the floor of a part, and again with a lower floor if too few entities get mass.
func (f *Finder) pushTo(q graph.Query) {
	floor := f.floor()
	if f.push(q, floor, math.MaxInt); len(f.scores) < f.most {
		f.push(q, floor/relief, plenty*f.most)
	}
}

// floor returns the floor of the first push.
func (f *Finder) floor() uint64 { return unit / (edgesPerEntity * uint64(f.most)) }

// choose appends the entities of the part, in any order.
func (f *Finder) choose(to []int32) []int32 {
	f.ranked = f.ranked[:0]
	for number, entity := range f.found.entities {
		f.ranked = append(f.ranked, ranked{f.scores[number], entity})
	}
	f.ranked[0].score = ^uint64(0) // the source
	n := min(f.most, len(f.ranked))
	partition(f.ranked, n)
	for _, r := range f.ranked[:n] {
		to = append(to, r.entity)
	}
	return to
}

// partition moves the n elements of a list that come first in its order to its front (Hoare's selection).
func partition(list []ranked, n int) {
	for len(list) > 1 && n > 0 && n < len(list) {
		// The pivot is the median of three.
		a, b, c := list[0], list[len(list)/2], list[len(list)-1]
		if b.before(a) {
			a, b = b, a
		}
		if c.before(b) {
			b = c
			if b.before(a) {
				b = a
			}
		}
		i, j := 0, len(list)-1
		for i <= j {
			for list[i].before(b) {
				i++
			}
			for b.before(list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		// Continue in the part that holds the n-th element.
		switch {
		case n <= j:
			list = list[:j+1]
		case n >= i:
			list, n = list[i:], n-i
		default:
			return
		}
	}
}

// manyEdges is a number of edges for each entity of the part. For an entity with more, each entity of the part is
// looked up among its senders, instead of each sender among the entities of the part.
const manyEdges = 8

// induce sets the edges from entities of the part that enter a range of its entities, and these entities' degrees. g
// has these edges; its entity 0 is first.
func (f *Finder) induce(g *graph.Graph, first int32, some []int32, into *Subgraph) {
	f.found.reset()
	for _, entity := range into.Entities {
		f.found.add(entity) // whose number is its id in the part
	}
	into.Offsets, into.Degrees = parallel.Resize(into.Offsets, len(some)+1), parallel.Resize(into.Degrees, len(some))
	into.Offsets[0], into.Senders, into.Relations = 0, into.Senders[:0], into.Relations[:0]
	for i, entity := range some {
		senders, relations := g.In(entity - first)
		into.Degrees[i] = int32(g.Degree(entity - first))
		if len(senders) > manyEdges*len(into.Entities) {
			f.intersect(senders, relations, into)
		} else {
			for j, sender := range senders {
				if local := f.found.find(sender); local >= 0 {
					into.Senders, into.Relations = append(into.Senders, local), append(into.Relations, relations[j])
				}
			}
		}
		into.Offsets[i+1] = int64(len(into.Senders))
	}
}

// intersect appends the edges of an entity with many, whose senders are ascending, from entities of the part.
func (f *Finder) intersect(senders, relations []int32, into *Subgraph) {
	at := 0
	for local, sender := range into.Entities {
		step := 1 // doubled until the sender is within it
		for at+step < len(senders) && senders[at+step] < sender {
			step *= 2
		}
		end := min(len(senders), at+step+1)
		at += sort.Search(end-at, func(i int) bool { return senders[at+i] >= sender })
		for ; at < len(senders) && senders[at] == sender; at++ {
			into.Senders, into.Relations = append(into.Senders, int32(local)), append(into.Relations, relations[at])
		}
	}
}
