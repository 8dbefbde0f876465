package answer

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"tagnet/formats/hop"
	"tagnet/model/answer/explanation"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
)

// Worker scores all entities for the queries of a source; inference.Worker is one. It need not be
// safe for concurrent use.
type Worker interface {
	// ScoresWithout sets scores, [V], to the logits of (source, relation, ?) for the source of q, in the graph of q, or
	// in a part of it that is not nil. Its errors name the query; a NaN or infinite logit is an error.
	ScoresWithout(ctx context.Context, q graph.Query, part *parts.Subgraph, relation int32, scores []float32) error
	// Sent returns the number of messages that the last call of ScoresWithout sent.
	Sent() int64
	// Distance returns the number of hops from the source of the last call of ScoresWithout to entity.
	// reached is false beyond the model's layers.
	Distance(entity int32) (hops int, reached bool)
}

// Pool ranks on the processor. Concurrent calls share its workers, which it makes when all others are in use, and their
// results: equal queries that wait are computed once, and queries of a source one after another. Each call gets what it
// would get alone, bit for bit. Calls take turns, so that a large one does not keep a small one waiting until its end.
type Pool struct {
	entities, relations int
	newWorker           func() Worker
	queue               queue
	idle                chan *thread // made and not in use
	watch               *watch       // of the model, or nil
}

// chunkSize is the maximal number of queries of a source that a thread takes at a time, so that the
// threads share the work of a hub.
const chunkSize = 8

// NewPool returns a pool over a graph of that many entities and relations (2R), with as many workers as size at most,
// which changes no result. group returns a number for relations whose queries are answered faster one after another.
func NewPool(entities, relations, size int, group func(relation int32) int32, newWorker func() Worker) *Pool {
	p := &Pool{entities: entities, relations: relations, newWorker: newWorker, idle: make(chan *thread, size)}
	p.queue = queue{workers: size, most: chunkSize, group: group, work: p.work, open: map[batchKey][]*chunk{}}
	return p
}

// Rank scores every query, and keeps the selected candidates of each. It calls done, which may be nil, with the number
// of rows that were scored since the last call. A panic of a worker is a *PanicError. Once ctx is done, nothing more is
// computed for the call.
func (p *Pool) Rank(ctx context.Context, queries []Request, list ranking.Selection, done func(rows int)) (*Scored, error) {
	if err := check(queries, p.entities, p.relations); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	list.K = min(list.K, p.entities)
	c := p.queue.ask(queries, list)
	defer p.queue.leave(c)
	out := &Scored{Queries: c.ranked}
	for range queries {
		select {
		case r := <-c.answers:
			if r.err != nil {
				return nil, r.err
			}
			out.Messages += r.messages
			if done != nil {
				done(len(queries[r.at].Rows))
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return out, nil
}

// use waits for its turn and calls work with a thread of its own.
func (p *Pool) use(ctx context.Context, work func(*thread) error) error {
	lent, back := make(chan *thread), make(chan struct{})
	defer close(back)
	c := p.queue.lend(func(abandoned context.Context, t *thread) {
		select {
		case lent <- t:
			<-back
		case <-abandoned.Done():
		}
	})
	defer p.queue.leave(c)
	select {
	case t := <-lent:
		return work(t)
	case r := <-c.answers: // no thread could be made
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// work computes a chunk, and answers the calls that wait for it.
func (p *Pool) work(ctx context.Context, c *chunk) {
	defer runtime.Gosched()
	defer func() {
		if value := recover(); value != nil {
			c.fail(&PanicError{value, debug.Stack()})
		}
	}()
	t := p.thread()
	if c.lend != nil {
		c.lend(ctx, t)
	} else {
		begun := time.Now()
		if n := t.answer(ctx, c); n > 0 && p.watch != nil {
			p.watch.say(n, begun)
		}
	}
	p.idle <- t // not after a panic, which leaves anything in its buffers
}

func (p *Pool) thread() *thread {
	select {
	case t := <-p.idle:
		return t
	default:
		return &thread{worker: p.newWorker(), scores: make([]float32, p.entities)}
	}
}

// thread is a worker with its buffers, 4 bytes per entity.
type thread struct {
	worker  Worker
	explain *explanation.Worker // nil until it explains
	scores  []float32
	top     []ranking.Candidate
}

// answer answers the queries of a chunk that a call waits for, and returns how many were computed.
func (t *thread) answer(ctx context.Context, c *chunk) (computed int) {
	for i := range c.queries {
		q := &c.queries[i]
		if !q.waited() {
			continue
		}
		if err := t.worker.ScoresWithout(ctx, c.key.query, c.key.part, q.relation, t.scores); err != nil {
			q.fail(err)
			continue
		}
		computed++
		// Every call that waits for the query gets results of its own selection.
		for len(q.askers) > 0 {
			a := q.askers[0]
			a.call.ranked[a.at] = t.results(a.call.queries[a.at], t.scores, a.call.list)
			q.askers = q.askers[1:]
			a.call.answers <- reply{at: a.at, messages: t.worker.Sent()}
		}
	}
	return computed
}

// results ranks a query's labelled answers by the scores of all entities, and keeps the selected candidates.
func (t *thread) results(q Request, scores []float32, list ranking.Selection) Ranked {
	out := q.Unranked()
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
			candidate := Candidate{Entity: c.Entity, Score: c.Score, Known: q.IsKnown(c.Entity), Distance: t.distance(c.Entity)}
			if list.Ranks {
				candidate.Rank = q.RankOf(c.Entity, scores).Pessimistic
			}
			out.Best = append(out.Best, candidate)
		}
	}
	return out
}

func (t *thread) distance(entity int32) int32 {
	hops, reached := t.worker.Distance(entity)
	if !reached {
		return hop.Column
	}
	return int32(hops)
}
