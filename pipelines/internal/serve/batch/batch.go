package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"tagnet/model"
)

// Ask answers queries of one key with their k best answers each. Its error is that of all of them.
type Ask func(ctx context.Context, queries []model.Query, k int) ([][]model.Answer, error)

// Most is the largest number of queries in a batch. The first of them waits for the others.
const Most = 32

// PanicError is the error of the queries of a batch whose Ask panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the value that was given to panic.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// errAbandoned ends the computation of a batch whose queries nobody waits for any more.
var errAbandoned = errors.New("every request of the batch has ended")

// Batcher answers queries. It may be used concurrently.
type Batcher struct {
	workers int
	done    func(queries int, took time.Duration) // nil, or called after each batch

	mu      sync.Mutex
	queue   []*batch       // those that wait, in order
	open    map[any]*batch // of the queue, those that queries may join, by key
	running int            // workers at work
}

// batch is some queries with the same key. The Batcher's mutex guards its fields until it is taken from the queue.
type batch struct {
	key      any
	ask      Ask
	queries  []model.Query
	k        int
	waiting  int // requests that wait for a query of it
	context  context.Context
	cancel   context.CancelCauseFunc
	complete chan struct{} // closed when answers and err are set
	answers  [][]model.Answer
	err      error
}

// New returns a Batcher that computes as many batches at a time as there are workers. It calls done, unless that is nil, after each
// batch with the number of its queries and how long they took.
func New(workers int, done func(queries int, took time.Duration)) *Batcher {
	return &Batcher{workers: workers, done: done, open: map[any]*batch{}}
}

// Ticket is the position of a query in a batch.
type Ticket struct {
	of       *batch
	position int
	k        int
	batcher  *Batcher
}

// Submit queues a query for its k best answers. Queries with equal keys may share a batch, so a key holds everything,
// except source, relation and k, on which an answer depends; ask is equal for equal keys. Every
// ticket must be redeemed.
func (b *Batcher) Submit(key any, query model.Query, k int, ask Ask) Ticket {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.open[key]
	if of == nil {
		of = &batch{key: key, ask: ask, complete: make(chan struct{})}
		of.context, of.cancel = context.WithCancelCause(context.Background())
		b.open[key] = of
		b.queue = append(b.queue, of)
	}
	t := Ticket{of: of, position: of.position(query), k: k, batcher: b}
	of.k = max(of.k, k)
	of.waiting++
	if len(of.queries) == Most {
		delete(b.open, key)
	}
	if b.running < b.workers {
		b.running++
		go b.work()
	}
	return t
}

// position returns the index of a query in the batch, which it joins unless it is in it.
func (of *batch) position(query model.Query) int {
	for i, q := range of.queries {
		if q == query {
			return i
		}
	}
	of.queries = append(of.queries, query)
	return len(of.queries) - 1
}

// Answer waits for the answers of the ticket's query until ctx is done. A batch that every request has left is not
// computed, or no longer.
func (t Ticket) Answer(ctx context.Context) ([]model.Answer, error) {
	defer t.leave()
	select {
	case <-t.of.complete:
		if t.of.err != nil {
			return nil, t.of.err
		}
		answers := t.of.answers[t.position]
		return answers[:min(t.k, len(answers))], nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// leave ends the computation of the batch after its last request.
func (t Ticket) leave() {
	t.batcher.mu.Lock()
	defer t.batcher.mu.Unlock()
	if t.of.waiting--; t.of.waiting > 0 {
		return
	}
	t.of.cancel(errAbandoned)
	if t.batcher.open[t.of.key] == t.of { // a later query must not join it
		delete(t.batcher.open, t.of.key)
	}
}

// work computes the batches of the queue until there is none.
func (b *Batcher) work() {
	for {
		of := b.next()
		if of == nil {
			return
		}
		begun := time.Now()
		of.compute()
		if b.done != nil && of.err == nil {
			b.done(len(of.queries), time.Since(begun))
		}
		close(of.complete)
	}
}

// next takes the first batch of the queue that somebody waits for. With none left it counts the worker as idle.
func (b *Batcher) next() *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) > 0 {
		of := b.queue[0]
		b.queue[0] = nil
		if b.queue = b.queue[1:]; len(b.queue) == 0 {
			b.queue = nil // the array would grow with every batch
		}
		if b.open[of.key] == of {
			delete(b.open, of.key)
		}
		if of.waiting > 0 {
			return of
		}
	}
	b.running--
	return nil
}

func (of *batch) compute() {
	defer func() {
		if value := recover(); value != nil {
			of.err = &PanicError{value, debug.Stack()}
		}
	}()
	of.answers, of.err = of.ask(of.context, of.queries, of.k)
}
