package propagation

import (
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
)

// within is the part of the graph that the last query propagated through. Policies see the part alone, with ids of its
// own; callers of a Propagator, dropout and edges have ids of the whole graph.
type within struct {
	finder     *parts.Finder
	part       parts.Subgraph
	givenPart  *parts.Subgraph // the part, where the query gave it
	query      graph.Query     // that the part was found for
	found      bool            // its entities are known,
	complete   bool            // and its edges, which the runner's graph has
	candidates []int32         // of the query that are in the part
	entities   []int32         // by row of the layout
	listed     bool            // entities belong to the last query
}

func newWithin(g *graph.Graph, c configuration.Configuration) *within {
	return &within{finder: parts.NewFinder(g, c.Reach, c.Layers), candidates: []int32{}}
}

// enter returns a request as one of the part that it propagates through, which becomes the graph of the runner.
func (p *Propagator) enter(q Request) Request {
	x := p.reach
	x.listed = false
	p.find(q.Query, q.Part)
	p.complete()
	q.Source, q.Answer, q.Others, q.Removal = x.part.Source, x.part.Answer, x.part.Others, x.part.Removal
	if q.Candidates != nil {
		x.candidates = parallel.Resize(x.candidates, len(q.Candidates))[:0]
		for _, o := range q.Candidates {
			if local := x.part.Local(o); local >= 0 {
				x.candidates = append(x.candidates, local)
			}
		}
		q.Candidates = x.candidates
	}
	return q
}

// find finds the entities of the part of a query, unless it is given or the last one's.
func (p *Propagator) find(q graph.Query, givenPart *parts.Subgraph) {
	x := p.reach
	if x.found && q.Source == x.query.Source && q.SameGraph(x.query) && givenPart == x.givenPart {
		return
	}
	if x.givenPart != nil {
		x.part = parts.Subgraph{} // its arrays are another's
	}
	if givenPart != nil {
		x.part = *givenPart
	} else {
		x.part.Entities = x.finder.Entities(q, x.part.Entities)
	}
	x.query, x.givenPart, x.found, x.complete = q, givenPart, true, false
}

// complete makes the part the graph of the runner.
func (p *Propagator) complete() {
	x := p.reach
	if x.complete {
		return
	}
	if x.givenPart == nil {
		x.finder.Complete(x.query, &x.part)
	}
	x.complete = true
	p.graph, p.done, p.distances = x.part.Of(p.whole), false, distances{}
	p.layout.Reset(p.graph)
}

// Inside returns the entities that a query propagates through, ascending, or nil for the whole graph's. part is the
// query's, or nil. The slice is a view, valid until the next query.
func (p *Propagator) Inside(q graph.Query, part *parts.Subgraph) []int32 {
	if p.reach == nil {
		return nil
	}
	p.find(q, part)
	return p.reach.part.Entities
}

// local returns the id of an entity in the graph that the last query propagated through, or -1.
func (p *runner) local(entity int32) int32 {
	if p.reach == nil {
		return entity
	}
	return p.reach.part.Local(entity)
}

// entities returns the entity in each row of the layout. The slice is a view.
func (p *runner) entities() []int32 {
	x := p.reach
	if x == nil {
		return p.layout.Entities
	}
	if !x.listed {
		x.entities = parallel.Resize(x.entities, p.layout.Count())
		for row, local := range p.layout.Entities {
			x.entities[row] = x.part.Entities[local]
		}
		x.listed = true
	}
	return x.entities
}
