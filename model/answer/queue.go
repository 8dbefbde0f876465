package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"tagnet/model/answer/ranking"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// queue holds the queries that wait for a worker, of any number of concurrent calls. Queries that are cheap together
// wait in one chunk, whoever asks them, and equal ones are computed once. A query does not wait for others to join it.
//
// The calls take turns, a chunk each, so that a call with many chunks does not keep the others waiting until it is
// answered. A chunk that several calls share is computed in the first of their turns.
//
//	one worker; call 1 has the chunks a b c, and while a is computed, call 2 comes with b and call 3 with d and c
//	computed   a   b (turn of 1, and of 2, too)   d (of 3)   c (of 1 and 3)
type queue struct {
	workers int // at most
	most    int // queries of a chunk
	// group returns a number for relations whose queries are cheaper one after another.
	group func(relation int32) int32
	// work computes a chunk. It does not panic, and answers every query that is not abandoned.
	work func(ctx context.Context, c *chunk)

	mu      sync.Mutex
	turns   []*poolCall           // those that have chunks which wait, the next first
	open    map[batchKey][]*chunk // the chunks that wait, of each key the newest last
	running int                   // workers at work
}

// batchKey is the group, graph and part of queries that are cheap together.
type batchKey struct {
	group int32
	query graph.Query // with what says which edges leave its graph, beside the source
	part  *parts.Subgraph
}

// chunk is a worker's unit of work: some queries of one key, or a call of lend with a thread. The mutex of the queue
// guards it until it is taken, and calls and cancel always.
type chunk struct {
	key     batchKey
	queries []sharedQuery
	lend    func(ctx context.Context, t *thread)
	last    *poolCall // that joined it
	calls   int       // that wait for it
	begun   bool
	cancel  context.CancelCauseFunc // nil until it is taken
}

type sharedQuery struct {
	relation int32
	askers   []asker // that are not answered
}

// asker is a call that waits for a query, its query number at.
type asker struct {
	call *poolCall
	at   int
}

// poolCall is a call of the pool. It waits for one answer to each of its queries.
type poolCall struct {
	queries []Request
	list    ranking.Selection
	ranked  []Ranked // by query
	answers chan reply
	chunks  []*chunk // in the order of its turns
	next    int      // the first of them that may still wait
	left    atomic.Bool
}

// reply says that the query number at was answered, or failed.
type reply struct {
	at       int
	messages int64
	err      error
}

// errAbandoned ends the computation of a chunk that nobody waits for any more.
var errAbandoned = errors.New("every call that asked has ended")

// PanicError is the error of queries whose computation panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the value that was given to panic.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// ask queues the queries of a call. The call must leave.
func (q *queue) ask(queries []Request, list ranking.Selection) *poolCall {
	c := &poolCall{queries: queries, list: list, ranked: make([]Ranked, len(queries)), answers: make(chan reply, len(queries))}
	order := q.order(queries)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, at := range order {
		q.join(asker{c, at})
	}
	q.enter(c)
	return c
}

// lend queues a call for a thread. The call must leave.
func (q *queue) lend(work func(ctx context.Context, t *thread)) *poolCall {
	c := &poolCall{answers: make(chan reply, 1)}
	c.chunks = []*chunk{{lend: work, queries: []sharedQuery{{askers: []asker{{call: c}}}}, calls: 1}}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.enter(c)
	return c
}

// order returns the order of answering: by group, and within it by source.
func (q *queue) order(queries []Request) []int {
	order := parallel.Indices[int](len(queries))
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := queries[i], queries[j]
		return cmp.Or(cmp.Compare(q.group(a.Relation), q.group(b.Relation)), cmp.Compare(a.Source, b.Source))
	})
	return order
}

// batchKeyOf returns the key of the chunks that a query may join.
func (q *queue) batchKeyOf(r Request) batchKey {
	found := batchKey{group: q.group(r.Relation), query: graph.Query{Source: r.Source, Answer: graph.None, Removal: r.Removal}, part: r.Part}
	if r.Removal != graph.RemoveNothing {
		found.query.Answer = r.Answer
	}
	if r.Removal == graph.RemoveFact {
		found.query.Relation = r.Relation
	}
	return found
}

// join puts a query into a chunk of its key: where an equal one waits, or there is space, or else into a new one.
func (q *queue) join(a asker) {
	query := a.call.queries[a.at]
	key := q.batchKeyOf(query)
	var into *chunk
	position := -1
	for _, into = range q.open[key] {
		position = slices.IndexFunc(into.queries, func(s sharedQuery) bool { return s.relation == query.Relation })
		if position >= 0 {
			break
		}
	}
	if into == nil || position < 0 && len(into.queries) == q.most {
		into = &chunk{key: key}
		q.open[key] = append(q.open[key], into)
	}
	if position < 0 {
		position = len(into.queries)
		into.queries = append(into.queries, sharedQuery{relation: query.Relation})
	}
	into.queries[position].askers = append(into.queries[position].askers, a)
	if into.last != a.call {
		into.last = a.call
		into.calls++
		a.call.chunks = append(a.call.chunks, into)
	}
}

// enter gives a call its turns, and starts workers for it, unless it asks nothing.
func (q *queue) enter(c *poolCall) {
	if len(c.chunks) == 0 {
		return
	}
	q.turns = append(q.turns, c)
	for range min(q.workers-q.running, len(c.chunks)) {
		q.running++
		go q.run()
	}
}

// leave ends the wait of a call. Chunks that no other call waits for are dropped or canceled.
func (q *queue) leave(c *poolCall) {
	c.left.Store(true)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, joined := range c.chunks {
		if joined.calls--; joined.calls > 0 {
			continue
		}
		q.close(joined)
		if joined.cancel != nil {
			joined.cancel(errAbandoned)
		}
	}
}

// close lets no more queries join a chunk.
func (q *queue) close(c *chunk) {
	open := slices.DeleteFunc(q.open[c.key], func(o *chunk) bool { return o == c })
	if q.open[c.key] = open; len(open) == 0 {
		delete(q.open, c.key)
	}
}

// run computes chunks until none waits.
func (q *queue) run() {
	for {
		c, ctx := q.take()
		if c == nil {
			return
		}
		q.work(ctx, c)
	}
}

// take takes the chunk whose turn it is. Without one it counts the worker as idle.
func (q *queue) take() (*chunk, context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.turns) > 0 {
		c := q.turns[0]
		q.turns[0] = nil
		if q.turns = q.turns[1:]; len(q.turns) == 0 {
			q.turns = nil // the array would grow with every call
		}
		for c.next < len(c.chunks) && c.chunks[c.next].begun {
			c.next++
		}
		if c.left.Load() || c.next == len(c.chunks) {
			continue
		}
		next := c.chunks[c.next]
		if c.next++; c.next < len(c.chunks) {
			q.turns = append(q.turns, c)
		}
		q.close(next)
		next.begun = true
		var ctx context.Context
		ctx, next.cancel = context.WithCancelCause(context.Background())
		return next, ctx
	}
	q.running--
	return nil, nil
}

// waited reports whether a call waits for the query, and forgets calls that have left.
func (s *sharedQuery) waited() bool {
	s.askers = slices.DeleteFunc(s.askers, func(a asker) bool { return a.call.left.Load() })
	return len(s.askers) > 0
}

// fail answers all calls that still wait for the query with an error.
func (s *sharedQuery) fail(err error) {
	for _, a := range s.askers {
		a.call.answers <- reply{at: a.at, err: err}
	}
	s.askers = nil
}

// fail answers all queries left in the chunk with an error.
func (c *chunk) fail(err error) {
	for i := range c.queries {
		c.queries[i].fail(err)
	}
}
