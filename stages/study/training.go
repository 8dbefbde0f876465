package study

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/study"
	"tagnet/model/weights/configuration"
)

// trainer has the buffers of a thread that counts training queries, each in a graph without its own fact.
type trainer struct {
	corrector *study.Corrector
	queries   []graph.Query
}

// countTraining sums the levels of a source's training queries, given its search in the whole graph.
func (f *countFn) countTraining(r *study.Result) sourceCounts {
	t := f.trainers.Get().(*trainer)
	defer f.trainers.Put(t)
	queries := kg.OfSource(f.queries, r.Source)
	distinct := t.distinct(queries, configuration.Removal(f.Params.Remove))
	t.corrector.Reset(r.Source, r.Distances(), slices.Max(f.Params.Layers), r.Levels)
	sum := study.Levels{}
	for q, n := range distinct {
		sum = sum.Plus(t.corrector.Without(q).Times(n))
	}
	return sourceCounts{Source: r.Source, Queries: int64(len(queries)), Levels: sum}
}

// distinct yields one query for each different graph among a source's queries, with the number of
// queries of that graph.
func (t *trainer) distinct(queries []graph.Query, remove graph.Removals) func(yield func(graph.Query, int64) bool) {
	t.queries = append(t.queries[:0], queries...)
	for i := range t.queries {
		t.queries[i].Removal = remove
	}
	slices.SortFunc(t.queries, func(a, b graph.Query) int {
		return cmp.Or(cmp.Compare(a.Answer, b.Answer), cmp.Compare(a.Relation, b.Relation))
	})
	return func(yield func(graph.Query, int64) bool) {
		for from, to := 0, 0; from < len(t.queries); from = to {
			q := t.queries[from]
			for to = from; to < len(t.queries) && q.SameGraph(t.queries[to]); to++ {
			}
			if !yield(q, int64(to-from)) {
				return
			}
		}
	}
}
