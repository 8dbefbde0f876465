package messages

import (
	"cmp"
	"slices"

	"tagnet/formats/tables"
	"tagnet/model/configuration"
	modelgraph "tagnet/model/graph"
	"tagnet/model/messages"
	"tagnet/stages/distances"
)

// trainer is what a thread needs to count training queries, each in a graph without its own fact.
type trainer struct {
	corrector *messages.Corrector
	queries   []tables.Query
}

// countTraining sums the levels of a source's training queries, given the hops in the whole
// graph and its levels there.
func (f *countFn) countTraining(source int32, hops []uint8, whole messages.Levels) Counted {
	t := f.trainers.Get().(*trainer)
	defer f.trainers.Put(t)
	queries := distances.QueriesOf(f.queries, source)
	removals := t.removals(f.graph, queries, f.Params.Remove == configuration.RemoveOneHop)
	t.corrector.Reset(source, hops, slices.Max(f.Params.Layers), whole)
	sum := messages.Levels{}
	for removal, n := range removals {
		sum = sum.Plus(t.corrector.Without(removal).Times(n))
	}
	return Counted{source, int64(len(queries)), sum}
}

// removals yields what leaves the graphs of a source's queries, and for how many of them.
func (t *trainer) removals(g *modelgraph.Graph, queries []tables.Query, oneHop bool) func(yield func(modelgraph.Removal, int64) bool) {
	t.queries = append(t.queries[:0], queries...)
	slices.SortFunc(t.queries, func(a, b tables.Query) int {
		return cmp.Or(cmp.Compare(a.Answer, b.Answer), cmp.Compare(a.Relation, b.Relation))
	})
	alike := func(a, b tables.Query) bool {
		return a.Answer == b.Answer && (oneHop || a.Relation == b.Relation)
	}
	return func(yield func(modelgraph.Removal, int64) bool) {
		for from, to := 0, 0; from < len(t.queries); from = to {
			q := t.queries[from]
			for to = from; to < len(t.queries) && alike(q, t.queries[to]); to++ {
			}
			removal := modelgraph.Removal{
				Active: true, OneHop: oneHop,
				Source: q.Source, Answer: q.Answer, Relation: q.Relation, Inverse: g.Inverse(q.Relation),
			}
			if !yield(removal, int64(to-from)) {
				return
			}
		}
	}
}
