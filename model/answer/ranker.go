package answer

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"tagnet/formats/reach"
	"tagnet/model/explanation"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/ranking"
	"tagnet/model/subgraph"
)

// Worker scores all entities for the queries of a source; inference.Worker is one. It need not be
// safe for concurrent use.
type Worker interface {
	// ScoresWithout sets each of scores, [V], to the logits of (source, relation, ?) for the source of q and each of relations, in the graph
	// of q, or in a part of it that is not nil. Its errors name the query; a logit that is NaN or infinite is one.
	ScoresWithout(ctx context.Context, q graph.Query, part *subgraph.Subgraph, relations []int32, scores [][]float32) error
	// Sent returns the number of messages that the last call of ScoresWithout sent.
	Sent() int64
	// Distance returns the number of hops from the source of the last call of ScoresWithout to entity.
	// reached is false where that is more than the model's layers.
	Distance(entity int32) (hops int, reached bool)
}

// thread is a worker with its buffers, 8 bytes per entity.
type thread struct {
	worker    Worker
	explain   *explanation.Worker // nil until it explains
	scores    [][]float32         // of the queries that are scored together
	relations []int32
	top       []ranking.Candidate
}

// lanes is how many queries of a source are scored together.
const lanes = 2

func newThread(w Worker, entities int) *thread {
	t := &thread{worker: w, scores: make([][]float32, lanes)}
	for i := range t.scores {
		t.scores[i] = make([]float32, entities)
	}
	return t
}

// Pool ranks on the processor. Concurrent calls share its workers. It makes one only if all that are made are in use.
type Pool struct {
	entities, relations int
	newWorker           func() Worker
	group               func(relation int32) int32
	idle                chan *thread  // made and not in use
	unmade              chan struct{} // a value for each that may still be made
}

// NewPool returns a pool over a graph of that many entities and relations (2R), with as many workers as size at most, which
// changes no result. group returns a number for relations whose queries are answered faster one after another.
func NewPool(entities, relations, size int, group func(relation int32) int32, newWorker func() Worker) *Pool {
	p := &Pool{entities: entities, relations: relations, newWorker: newWorker, group: group, idle: make(chan *thread, size), unmade: make(chan struct{}, size)}
	for range size {
		p.unmade <- struct{}{}
	}
	return p
}

// chunkSize is the maximal number of queries of a source that a thread takes at a time, so that the
// threads share the work of a hub.
const chunkSize = 8

// Rank scores every query of a bundle, and keeps the selected candidates of each. done, which may be nil, is called from any thread with the number
// of rows that were scored since the last call.
func (p *Pool) Rank(ctx context.Context, b *Bundle, list ranking.Selection, done func(rows int)) (*Scored, error) {
	if err := b.Check(p.entities, p.relations); err != nil {
		return nil, err
	}
	list.K = min(list.K, p.entities)
	order := p.order(b.Queries)
	queries, ranked := make([]Request, len(order)), make([]Ranked, len(order))
	for i, at := range order {
		queries[i] = b.Queries[at]
	}
	var messages atomic.Int64
	chunks := p.chunks(queries)
	err := parallel.Try(ctx, cap(p.idle), len(chunks), func(ctx context.Context, _, chunk int) error {
		from, to := chunks[chunk][0], chunks[chunk][1]
		return p.use(ctx, func(t *thread) error {
			sent, err := t.rank(ctx, queries[from:to], ranked[from:to], list, done)
			messages.Add(sent)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	out := &Scored{Queries: make([]Ranked, len(order)), Messages: messages.Load()}
	for i, at := range order {
		out.Queries[at] = ranked[i]
	}
	return out, nil
}

// order returns the order of answering: by group, and within it by source.
func (p *Pool) order(queries []Request) []int {
	order := make([]int, len(queries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return p.compare(queries[a], queries[b]) })
	return order
}

// compare compares the groups of two queries, then their sources.
func (p *Pool) compare(a, b Request) int {
	return cmp.Or(cmp.Compare(p.group(a.Relation), p.group(b.Relation)), cmp.Compare(a.Source, b.Source))
}

// chunks returns ranges of queries of one group and source each.
func (p *Pool) chunks(queries []Request) (ranges [][2]int) {
	for from := 0; from < len(queries); {
		to := from + 1
		for to < min(len(queries), from+chunkSize) && p.compare(queries[from], queries[to]) == 0 {
			to++
		}
		ranges = append(ranges, [2]int{from, to})
		from = to
	}
	return ranges
}

// use calls do with a thread that nothing else uses meanwhile. It waits for one while all are in use.
func (p *Pool) use(ctx context.Context, do func(*thread) error) error {
	t, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { p.idle <- t }()
	return do(t)
}

func (p *Pool) acquire(ctx context.Context) (*thread, error) {
	select {
	case t := <-p.idle:
		return t, nil
	default:
	}
	select {
	case t := <-p.idle:
		return t, nil
	case <-p.unmade:
		return newThread(p.newWorker(), p.entities), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// rank scores queries of one source and writes their results to out.
func (t *thread) rank(ctx context.Context, queries []Request, out []Ranked, list ranking.Selection, done func(int)) (sent int64, err error) {
	for len(queries) > 0 {
		first, together := &queries[0], 0
		t.relations = t.relations[:0]
		for together < min(len(t.scores), len(queries)) && queries[together].SameGraph(first.Query) && queries[together].Part == first.Part {
			t.relations = append(t.relations, queries[together].Relation)
			together++
		}
		if err := t.worker.ScoresWithout(ctx, first.Query, first.Part, t.relations, t.scores[:together]); err != nil {
			return 0, err
		}
		sent += t.worker.Sent()
		for i, q := range queries[:together] {
			out[i] = t.results(q, t.scores[i], list)
			if done != nil {
				done(len(q.Rows))
			}
		}
		queries, out = queries[together:], out[together:]
	}
	return sent, nil
}

// results ranks a query's labelled answers by the scores of all entities, and keeps the selected
// candidates.
func (t *thread) results(q Request, scores []float32, list ranking.Selection) Ranked {
	out := Ranked{Query: q.Query, Row: q.Rows[0]}
	for i, answer := range q.Answers {
		if answer == graph.None {
			continue
		}
		out.Results = append(out.Results, Result{
			Row: q.Rows[i], Answer: answer, Score: scores[answer],
			Rank: q.RankOf(answer, scores), Distance: t.distance(answer),
		})
	}
	if list.K > 0 {
		t.top = list.Top(scores, q.Source, q.Known, t.top)
		for _, c := range t.top {
			out.Best = append(out.Best, Candidate{c.Entity, c.Score, q.IsKnown(c.Entity), t.distance(c.Entity)})
		}
	}
	return out
}

// RankOf ranks an answer of the query by the scores of all entities.
func (q Request) RankOf(answer int32, scores []float32) ranking.Rank {
	if q.Sample.Negatives > 0 {
		return ranking.Among(scores, answer, q.Negatives(answer, len(scores)))
	}
	return ranking.Filtered(scores, answer, q.Known)
}

// IsKnown reports whether an entity is a known answer of the query.
func (q Request) IsKnown(entity int32) bool {
	_, known := slices.BinarySearch(q.Known, entity)
	return known
}

func (t *thread) distance(entity int32) int32 {
	hops, reached := t.worker.Distance(entity)
	if !reached {
		return reach.Column
	}
	return int32(hops)
}
