package answer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/answer/ranking"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
)

// gate holds up the computations of its workers until it is open, or their context ends. Then relation 18 fails, and
// relation 19 panics.
type gate struct {
	started chan string // source and relation of each computation
	open    chan struct{}
}

func newGate() *gate { return &gate{make(chan string, 10000), make(chan struct{})} }

type gated struct {
	fake
	*gate
}

func (g *gated) ScoresWithout(ctx context.Context, q graph.Query, part *parts.Subgraph, relation int32, scores []float32) error {
	g.started <- fmt.Sprint(q.Source, relation)
	select {
	case <-g.open:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if relation == 18 {
		return errors.New("relation 18")
	}
	if relation == 19 {
		panic("relation 19")
	}
	return g.fake.ScoresWithout(ctx, q, part, relation, scores)
}

func (g *gate) pool(workers int) *Pool {
	return NewPool(entities, 20, workers, oneGroup, func() Worker { return &gated{fake{fail: -1}, g} })
}

// computed returns what began since it was called before.
func (g *gate) computed() (list []string) {
	for len(g.started) > 0 {
		list = append(list, <-g.started)
	}
	return list
}

// queries returns those of pairs of a source and a relation.
func queries(pairs ...[2]int32) (list []Request) {
	for i, pair := range pairs {
		list = append(list, Request{Query: graph.Query{Source: pair[0], Relation: pair[1]}, Rows: []int64{int64(i)}, Answers: []int32{graph.None}})
	}
	return list
}

// ask queues a call for the best 3 answers.
func ask(p *Pool, pairs ...[2]int32) *poolCall {
	return p.queue.ask(queries(pairs...), ranking.Selection{K: 3})
}

// ended waits for all answers to a call, and returns their errors by query.
func ended(c *poolCall) []error {
	errs := make([]error, len(c.queries))
	for range c.queries {
		r := <-c.answers
		errs[r.at] = r.err
	}
	return errs
}

// TestTurns is the example of queue.
func TestTurns(t *testing.T) {
	t.Parallel()
	g := newGate()
	p := g.pool(1)
	first := ask(p, [2]int32{1, 0}, [2]int32{2, 0}, [2]int32{3, 0})
	begun := []string{<-g.started}
	calls := []*poolCall{first, ask(p, [2]int32{2, 0}), ask(p, [2]int32{3, 0}, [2]int32{0, 0})}
	close(g.open)
	for i, c := range calls {
		for at, err := range ended(c) {
			if err != nil {
				t.Errorf("call %d, query %d: %v", i+1, at, err)
			}
		}
	}
	if diff := cmp.Diff([]string{"1 0", "2 0", "0 0", "3 0"}, append(begun, g.computed()...)); diff != "" {
		t.Errorf("computed (-want +got):\n%s", diff)
	}
}

// TestJoins has calls with queries of one source while the only worker is busy: they are computed in chunks, and an
// equal one once.
func TestJoins(t *testing.T) {
	t.Parallel()
	g := newGate()
	p := g.pool(1)
	var sizes []int
	done := func(queries int, _ time.Duration) { sizes = append(sizes, queries) }
	p.watch = &watch{}
	p.watch.Store(&done)
	calls := []*poolCall{ask(p, [2]int32{1, 0})}
	<-g.started
	for relation := range int32(9) {
		calls = append(calls, ask(p, [2]int32{2, relation}), ask(p, [2]int32{2, relation}))
	}
	calls = append(calls, ask(p, [2]int32{2, 0}, [2]int32{3, 1})) // of a chunk that is full
	removed := queries([2]int32{2, 3})
	removed[0].Answer, removed[0].Removal = 5, graph.RemoveFact
	calls = append(calls, p.queue.ask(removed, ranking.Selection{K: 3}))
	close(g.open)
	for i, c := range calls {
		for at, err := range ended(c) {
			if err != nil || len(c.ranked[at].Best) != 3 {
				t.Errorf("call %d, query %d: %v, %v", i+1, at, c.ranked[at], err)
			}
		}
	}
	want := []string{"2 0", "2 1", "2 2", "2 3", "2 4", "2 5", "2 6", "2 7", "2 8", "3 1", "2 3"}
	if diff := cmp.Diff(want, g.computed()); diff != "" {
		t.Errorf("computed (-want +got):\n%s", diff)
	}
	if err := p.use(t.Context(), func(*thread) error { return nil }); err != nil { // the worker has said all sizes
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 8, 1, 1, 1}, sizes); diff != "" {
		t.Errorf("sizes of chunks (-want +got):\n%s", diff)
	}
}

// TestAbandoned has calls that leave: while their query is computed, while it waits, and while another call waits for
// the same one.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	g := newGate()
	p := g.pool(1)
	running, waiting := ask(p, [2]int32{1, 0}), ask(p, [2]int32{2, 0}, [2]int32{2, 1})
	shared, other := ask(p, [2]int32{3, 0}, [2]int32{3, 1}), ask(p, [2]int32{3, 0})
	begun := []string{<-g.started}
	p.queue.leave(waiting)
	p.queue.leave(shared)
	after := ask(p, [2]int32{4, 2})
	p.queue.leave(running)
	begun = append(begun, <-g.started) // the computation for running has ended
	close(g.open)
	for i, c := range []*poolCall{other, after} {
		if err := ended(c)[0]; err != nil || len(c.ranked[0].Best) != 3 {
			t.Errorf("call %d of those that stay: %v, %v", i+1, c.ranked[0], err)
		}
	}
	if diff := cmp.Diff([]string{"1 0", "3 0", "4 2"}, append(begun, g.computed()...)); diff != "" {
		t.Errorf("computed (-want +got):\n%s", diff)
	}
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	if len(p.queue.open) > 0 {
		t.Errorf("%d chunks are open after the last call", len(p.queue.open))
	}
}

// TestErrorsAreOfTheirQueries has queries that fail or panic beside others of their source.
func TestErrorsAreOfTheirQueries(t *testing.T) {
	t.Parallel()
	g := newGate()
	p := g.pool(1)
	busy := ask(p, [2]int32{1, 0})
	failing, beside := ask(p, [2]int32{2, 18}), ask(p, [2]int32{2, 0})
	panicking, with, later := ask(p, [2]int32{3, 19}), ask(p, [2]int32{3, 0}), ask(p, [2]int32{1, 1})
	close(g.open)
	for _, c := range []*poolCall{busy, beside, later} {
		if err := ended(c)[0]; err != nil {
			t.Errorf("(%d, %d, ?): %v", c.queries[0].Source, c.queries[0].Relation, err)
		}
	}
	if err := ended(failing)[0]; err == nil || err.Error() != "relation 18" {
		t.Errorf("a query that fails: %v", err)
	}
	for _, c := range []*poolCall{panicking, with} {
		var broken *PanicError
		if err := ended(c)[0]; !errors.As(err, &broken) || broken.Value != "relation 19" || len(broken.Stack) == 0 {
			t.Errorf("(%d, %d, ?): %v, want the panic", c.queries[0].Source, c.queries[0].Relation, err)
		}
	}
}

// TestUse has users of the only worker, one of which leaves before its turn, and a worker that cannot be made.
func TestUse(t *testing.T) {
	t.Parallel()
	g := newGate()
	p := g.pool(1)
	busy := ask(p, [2]int32{1, 0})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.use(ctx, func(*thread) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a user that leaves: %v", err)
	}
	close(g.open)
	want := errors.New("its own")
	if err := p.use(t.Context(), func(*thread) error { return want }); err != want {
		t.Errorf("error %v, want %v", err, want)
	}
	if err := ended(busy)[0]; err != nil {
		t.Error(err)
	}
	broken := NewPool(entities, 10, 1, oneGroup, func() Worker { panic("no worker") })
	if err := broken.use(t.Context(), func(*thread) error { return nil }); err == nil || err.Error() != "panic: no worker" {
		t.Errorf("without a worker: %v", err)
	}
}

// TestCompanyChangesNothing has concurrent calls with queries in common and wants of their own, and compares them with
// a call alone.
func TestCompanyChangesNothing(t *testing.T) {
	t.Parallel()
	p := NewPool(entities, 10, 3, byParity, func() Worker { return &fake{fail: -1} })
	var calls sync.WaitGroup
	for seed := range uint64(20) {
		calls.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			for range 20 {
				b := someRequests()
				rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
				b = b[:1+rng.IntN(30)]
				list := ranking.Selection{K: 1 + rng.IntN(4), Known: ranking.Known(rng.IntN(3))}
				alone := NewPool(entities, 10, 1, oneGroup, func() Worker { return &fake{fail: -1} })
				want, err := alone.Rank(t.Context(), b, list, nil)
				if err != nil {
					t.Error(err)
				}
				rows := 0
				got, err := p.Rank(t.Context(), b, list, func(n int) { rows += n })
				if diff := cmp.Diff(want, got); diff != "" || err != nil || int64(rows) != Rows(b) {
					t.Errorf("%v, %d rows (-alone +together):\n%s", err, rows, diff)
				}
			}
		})
	}
	calls.Wait()
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	for p.queue.running > 0 { // a worker looks for more after its last reply
		p.queue.mu.Unlock()
		time.Sleep(time.Millisecond)
		p.queue.mu.Lock()
	}
	if len(p.queue.turns) > 0 || len(p.queue.open) > 0 {
		t.Errorf("%d calls wait and %d chunks are open after the last call", len(p.queue.turns), len(p.queue.open))
	}
}

// TestCallOfNothing has calls without queries, of which the queue must keep nothing.
func TestCallOfNothing(t *testing.T) {
	t.Parallel()
	p := newGate().pool(1)
	if _, err := p.Rank(t.Context(), nil, ranking.Selection{K: 1}, nil); err != nil {
		t.Errorf("a call without queries: %v", err)
	}
	if n := len(p.queue.turns); n > 0 {
		t.Errorf("%d calls wait, want none", n)
	}
}
