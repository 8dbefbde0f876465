package gpu

import (
	"runtime"

	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/subgraph"
)

// members finds on all cores which entities the queries of a call propagate through, where there is a reach. Each query has its finder's
// place in a list of stride entities.
type members struct {
	stride  int
	finders []*subgraph.Finder
	list    []int32
}

// newMembers returns what finds at most so many entities for a query, or nothing for a reach of 0.
func newMembers(g *graph.Graph, reach, hops int) *members {
	m := &members{stride: reach}
	if reach > 0 {
		for range runtime.GOMAXPROCS(0) {
			m.finders = append(m.finders, subgraph.NewFinder(g, reach, hops))
		}
	}
	return m
}

// reserve makes place for so many queries.
func (m *members) reserve(queries int) {
	if len(m.list) < queries*m.stride {
		m.list = make([]int32, queries*m.stride)
	}
}

// find finds the entities of query i, and sets their number. part, unless it is nil, has them.
func (m *members) find(worker, i int, removal graph.Removal, part *subgraph.Subgraph, q *encodedQuery) []int32 {
	if m.stride == 0 {
		return nil
	}
	own := m.list[i*m.stride : (i+1)*m.stride]
	if part != nil {
		q.Members = int32(copy(own, part.Entities))
	} else {
		q.Members = int32(len(m.finders[worker].Entities(q.Source, removal, own[:0:m.stride])))
	}
	return own[:q.Members]
}

// of returns the lists of n queries from one on.
func (m *members) of(from, n int) []int32 { return m.list[from*m.stride : (from+n)*m.stride] }

// findAll finds the entities of queries that are encoded.
func (m *members) findAll(queries []Query, encoded []encodedQuery) []int32 {
	m.reserve(len(queries))
	parallel.Workers(len(m.finders), len(queries), func(worker, i int) {
		m.find(worker, i, queries[i].Removal, nil, &encoded[i])
	})
	return m.of(0, len(queries))
}
