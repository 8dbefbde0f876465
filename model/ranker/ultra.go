package ranker

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"tagnet/model/parallel"
	"tagnet/model/ranking"
	"tagnet/model/ultra"
)

// ultraRanker is a Ranker of ULTRA on the processor, for one goroutine at a time. It scores the queries of a bundle by their
// base relation, since these share the states that take longest to compute.
type ultraRanker struct {
	entities, relations int
	model               *ultra.Model
	list                ranking.Selection
	base                *ultra.Base
	workers             []*ultraWorker
	threads             []*thread
}

// newULTRARanker returns a ranker over a graph of that many entities and relations (2R) with so many threads, which changes no
// result. Entities farther than radius from a source keep the states that they have without a source; ultra.Layers is exact.
func newULTRARanker(entities, relations int, list ranking.Selection, m *ultra.Model, radius, threads int) Ranker {
	list.K = min(list.K, entities)
	r := &ultraRanker{entities: entities, relations: relations, model: m, list: list}
	for range threads {
		w := &ultraWorker{Worker: m.Worker(radius)}
		r.workers = append(r.workers, w)
		r.threads = append(r.threads, newThread(w, entities, 1))
	}
	return r
}

func (r *ultraRanker) Close() error { return nil }

func (r *ultraRanker) Rank(ctx context.Context, b *Bundle, done func(rows int)) (*Scored, error) {
	if err := b.Check(r.entities, r.relations); err != nil {
		return nil, err
	}
	out := &Scored{Queries: make([]Ranked, len(b.Queries))}
	var messages atomic.Int64
	for base, chunks := range r.byBase(b.Queries) {
		var err error
		if r.base, err = r.model.Base(ctx, base, len(r.threads), r.base); err != nil {
			return nil, err
		}
		err = parallel.Try(ctx, len(r.threads), len(chunks), func(ctx context.Context, i, chunk int) error {
			r.workers[i].base = r.base
			for _, at := range chunks[chunk] {
				sent, err := r.threads[i].rank(ctx, b.Queries[at:at+1], out.Queries[at:at+1], r.list, done)
				if err != nil {
					return err
				}
				messages.Add(sent)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out.Messages = messages.Load()
	return out, nil
}

// byBase yields the base relations of queries, ascending, and the positions of its queries: those of one source together, which
// share a search.
func (r *ultraRanker) byBase(queries []Query) func(yield func(base int32, chunks [][]int) bool) {
	baseOf := func(at int) int32 { return queries[at].Relation % int32(r.relations/2) }
	order := make([]int, len(queries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(baseOf(a), baseOf(b)), cmp.Compare(queries[a].Source, queries[b].Source), cmp.Compare(a, b))
	})
	return func(yield func(base int32, chunks [][]int) bool) {
		for from := 0; from < len(order); {
			base, to := baseOf(order[from]), from
			var chunks [][]int
			for to < len(order) && baseOf(order[to]) == base {
				first := to
				for to < len(order) && baseOf(order[to]) == base && queries[order[to]].Source == queries[order[first]].Source {
					to++
				}
				chunks = append(chunks, order[first:to])
			}
			if !yield(base, chunks) {
				return
			}
			from = to
		}
	}
}

// ultraWorker is a Worker for the queries of a base relation.
type ultraWorker struct {
	*ultra.Worker
	base *ultra.Base
}

// Scores sets scores for one relation: the base relation or its inverse.
func (w *ultraWorker) Scores(ctx context.Context, source int32, relations []int32, scores [][]float32) error {
	return w.Worker.Scores(ctx, w.base, source, relations[0], scores[0])
}
