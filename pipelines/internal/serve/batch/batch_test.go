package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// engine is an Ask whose batches wait until they are released.
type engine struct {
	mu      sync.Mutex
	batches [][]string
	started chan struct{}
	release chan struct{}
}

func newEngine() *engine {
	return &engine{started: make(chan struct{}, 100), release: make(chan struct{})}
}

func (e *engine) ask(ctx context.Context, queries []model.Query, k int) ([][]model.Answer, error) {
	var names []string
	var answers [][]model.Answer
	for _, q := range queries {
		names = append(names, q.Source+q.Relation)
		var of []model.Answer
		for i := range k {
			of = append(of, model.Answer{Entity: fmt.Sprintf("%s%s-%d", q.Source, q.Relation, i+1)})
		}
		answers = append(answers, of)
	}
	e.mu.Lock()
	e.batches = append(e.batches, names)
	e.mu.Unlock()
	e.started <- struct{}{}
	select {
	case <-e.release:
		return answers, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (e *engine) submit(b *Batcher, query string, k int) Ticket {
	return b.Submit(query[:1], model.Query{Source: query[:1], Relation: query[1:]}, k, e.ask)
}

// TestBatches is the example of the package's documentation.
func TestBatches(t *testing.T) {
	t.Parallel()
	e := newEngine()
	b := New(2, nil)
	var tickets []Ticket
	for i, query := range []string{"a1", "b1", "c1", "a2", "c2", "a2"} {
		tickets = append(tickets, e.submit(b, query, 1+i))
		if i < 2 {
			<-e.started // a goroutine may start late
		}
	}
	close(e.release)
	for i, want := range []string{"a1", "b1", "c1", "a2", "c2", "a2"} {
		answers, err := tickets[i].Answer(t.Context())
		if err != nil || len(answers) != 1+i || answers[i].Entity != fmt.Sprintf("%s-%d", want, i+1) {
			t.Errorf("query %d: %v, %v", i+1, answers, err)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	computed := map[string]int{}
	for _, batch := range e.batches {
		computed[fmt.Sprint(batch)]++
	}
	if diff := cmp.Diff(map[string]int{"[a1]": 1, "[b1]": 1, "[c1 c2]": 1, "[a2]": 1}, computed); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

func TestBatchHasAMost(t *testing.T) {
	t.Parallel()
	e := newEngine()
	b := New(1, nil)
	tickets := []Ticket{e.submit(b, "x", 1)}
	<-e.started
	for i := range 2*Most + 1 {
		tickets = append(tickets, e.submit(b, fmt.Sprintf("a%d", i), 1))
	}
	close(e.release)
	for _, ticket := range tickets {
		if _, err := ticket.Answer(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var sizes []int
	for _, batch := range e.batches {
		sizes = append(sizes, len(batch))
	}
	if diff := cmp.Diff([]int{1, Most, Most, 1}, sizes); diff != "" {
		t.Errorf("sizes of batches (-want +got):\n%s", diff)
	}
}

// TestAbandonedBatches has a batch that is computed and one that waits when their requests end.
func TestAbandonedBatches(t *testing.T) {
	t.Parallel()
	e := newEngine()
	b := New(1, nil)
	running, waiting := e.submit(b, "a1", 1), []Ticket{e.submit(b, "b1", 1), e.submit(b, "b2", 1)}
	<-e.started
	deadline := errors.New("the request has ended")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(deadline)
	if _, err := waiting[0].Answer(ended); err != deadline {
		t.Errorf("a request that ended: %v", err)
	}
	if _, err := waiting[1].Answer(ended); err != deadline {
		t.Errorf("a request that ended: %v", err)
	}
	after := e.submit(b, "b3", 1) // must not join the batch that nobody waits for
	if _, err := running.Answer(ended); err != deadline {
		t.Errorf("a request that ended: %v", err)
	}
	<-e.started // of b3: the engine's context of a1 is done
	close(e.release)
	if _, err := after.Answer(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([][]string{{"a1"}, {"b3"}}, e.batches); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

// TestOneOfABatchEnds has a request that ends while another waits for the same query.
func TestOneOfABatchEnds(t *testing.T) {
	t.Parallel()
	e := newEngine()
	b := New(1, nil)
	busy := e.submit(b, "x", 1)
	<-e.started
	first, second := e.submit(b, "a1", 1), e.submit(b, "a1", 1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := first.Answer(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that ended: %v", err)
	}
	close(e.release)
	if answers, err := second.Answer(t.Context()); err != nil || len(answers) != 1 {
		t.Errorf("the other request: %v, %v", answers, err)
	}
	if _, err := busy.Answer(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestPanicIsAnError(t *testing.T) {
	t.Parallel()
	batches := 0
	b := New(1, func(int, time.Duration) { batches++ })
	ticket := b.Submit("a", model.Query{}, 1, func(context.Context, []model.Query, int) ([][]model.Answer, error) { panic("broken") })
	var broken *PanicError
	if _, err := ticket.Answer(t.Context()); !errors.As(err, &broken) || broken.Value != "broken" || len(broken.Stack) == 0 {
		t.Errorf("%v", err)
	}
	e := newEngine()
	close(e.release)
	if _, err := e.submit(b, "a1", 1).Answer(t.Context()); err != nil || batches != 1 {
		t.Errorf("the worker does not continue: %v, %d batches without a panic", err, batches)
	}
}

func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	e := newEngine()
	close(e.release)
	go func() {
		for range e.started {
		}
	}()
	b := New(3, nil)
	var requests sync.WaitGroup
	for i := range 20 {
		requests.Go(func() {
			for j := range 50 {
				query := fmt.Sprintf("%d%d", (i+j)%5, j%12)
				answers, err := e.submit(b, query, 1+j%4).Answer(t.Context())
				if err != nil || len(answers) != 1+j%4 || answers[0].Entity != query+"-1" {
					t.Errorf("%s: %v, %v", query, answers, err)
				}
			}
		})
	}
	requests.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) > 0 || len(b.open) > 0 {
		t.Errorf("%d batches wait and %d are open after the last request", len(b.queue), len(b.open))
	}
}
