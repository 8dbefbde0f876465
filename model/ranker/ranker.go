package ranker

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"tagnet/model/parallel"
	"tagnet/model/ranking"
)

// Worker scores all entities for the queries of a source; inference.Worker is one. It need not be
// safe for concurrent use.
type Worker interface {
	// Scores sets each of scores, [V], to the logits of (source, relation, ?) for each of relations. Its errors name the query;
	// a logit that is NaN or infinite is one.
	Scores(ctx context.Context, source int32, relations []int32, scores [][]float32) error
	// Sent returns the number of messages that the last call of Scores sent.
	Sent() int64
	// Distance returns the number of hops from the source of the last call of Scores to entity.
	// reached is false where that is more than the model's layers.
	Distance(entity int32) (hops int, reached bool)
}

// Ranker ranks the answers of bundles. Concurrent calls of Rank wait for one another.
type Ranker interface {
	// Rank scores every query of a bundle. done, which may be nil, is called from any thread with the
	// number of rows that were scored since the last call.
	Rank(ctx context.Context, b *Bundle, done func(rows int)) (*Scored, error)
	// Close frees what the ranker holds on a device, after the calls of Rank.
	Close() error
}

// cpuRanker is a Ranker on the processor. A process holds one with all its workers.
type cpuRanker struct {
	entities, relations int
	list                ranking.Selection
	busy                sync.Mutex
	threads             []*thread
}

// thread is a worker with its buffers, 8 bytes per entity.
type thread struct {
	worker    Worker
	scores    [][]float32 // of the queries that are scored together
	relations []int32
	top       []ranking.Candidate
}

// NewRanker returns a ranker over a graph of that many entities and relations (2R), with a thread per
// worker, that keeps the selected candidates of each query. The number of workers changes no result.
func NewRanker(entities, relations int, list ranking.Selection, workers []Worker) Ranker {
	list.K = min(list.K, entities)
	r := &cpuRanker{entities: entities, relations: relations, list: list}
	for _, w := range workers {
		r.threads = append(r.threads, &thread{
			worker: w,
			scores: [][]float32{make([]float32, entities), make([]float32, entities)},
			top:    make([]ranking.Candidate, 0, list.K),
		})
	}
	return r
}

// chunkSize is the maximal number of queries of a source that a thread takes at a time, so that the
// threads share the work of a hub.
const chunkSize = 8

func (r *cpuRanker) Close() error { return nil }

func (r *cpuRanker) Rank(ctx context.Context, b *Bundle, done func(rows int)) (*Scored, error) {
	if err := b.Check(r.entities, r.relations); err != nil {
		return nil, err
	}
	r.busy.Lock()
	defer r.busy.Unlock()
	var chunks [][2]int // ranges of b.Queries, of one source each
	for first, queries := range b.Sources() {
		for from := 0; from < len(queries); from += chunkSize {
			chunks = append(chunks, [2]int{first + from, first + min(from+chunkSize, len(queries))})
		}
	}
	out := &Scored{Queries: make([]Ranked, len(b.Queries))}
	var messages atomic.Int64
	err := parallel.Try(ctx, len(r.threads), len(chunks), func(ctx context.Context, i, chunk int) error {
		from, to := chunks[chunk][0], chunks[chunk][1]
		sent, err := r.threads[i].rank(ctx, b.Queries[from:to], out.Queries[from:to], r.list, done)
		messages.Add(sent)
		return err
	})
	out.Messages = messages.Load()
	return out, err
}

// rank scores queries of one source and writes their results to out.
func (t *thread) rank(ctx context.Context, queries []Query, out []Ranked, list ranking.Selection, done func(int)) (sent int64, err error) {
	source := queries[0].Source
	for len(queries) > 0 {
		together := min(len(t.scores), len(queries))
		t.relations = t.relations[:0]
		for _, q := range queries[:together] {
			t.relations = append(t.relations, q.Relation)
		}
		if err := t.worker.Scores(ctx, source, t.relations, t.scores[:together]); err != nil {
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
func (t *thread) results(q Query, scores []float32, list ranking.Selection) Ranked {
	out := Ranked{Source: q.Source, Relation: q.Relation, Row: q.Rows[0]}
	for i, answer := range q.Answers {
		if answer == None {
			continue
		}
		out.Results = append(out.Results, Result{
			Row: q.Rows[i], Answer: answer, Score: scores[answer],
			Rank: rankOf(q, answer, scores), Distance: t.distance(answer),
		})
	}
	if list.K > 0 {
		t.top = list.Top(scores, q.Source, q.Known, t.top)
		for _, c := range t.top {
			out.Best = append(out.Best, Candidate{c.Entity, c.Score, isKnown(q, c.Entity), t.distance(c.Entity)})
		}
	}
	return out
}

// rankOf ranks an answer of a query by the scores of all entities.
func rankOf(q Query, answer int32, scores []float32) ranking.Rank {
	if q.Sample.Negatives > 0 {
		return ranking.Among(scores, answer, q.Negatives(answer, len(scores)))
	}
	return ranking.Filtered(scores, answer, q.Known)
}

func isKnown(q Query, entity int32) bool {
	_, known := slices.BinarySearch(q.Known, entity)
	return known
}

func (t *thread) distance(entity int32) int32 {
	hops, reached := t.worker.Distance(entity)
	if !reached {
		return Unreached
	}
	return int32(hops)
}
