package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// emitted gives numbers to a Concurrent, as a DoFn gets elements, and returns what it emits.
func emitted(t *testing.T, c *Concurrent[int], numbers []int, work func(ctx context.Context, n int) (int, error)) (results []int, err error) {
	t.Helper()
	for _, n := range numbers {
		if err := c.Go(t.Context(), 2, func(ctx context.Context) (int, error) { return work(ctx, n) }); err != nil {
			return nil, err
		}
	}
	err = c.Finish(func(result int) { results = append(results, result) })
	return results, err
}

// TestConcurrent checks that two elements are processed at the same time, that results keep the order of the elements,
// and that one bundle follows another.
func TestConcurrent(t *testing.T) {
	var c Concurrent[int]
	var met sync.WaitGroup
	for range 2 {
		met.Add(2)
		got, err := emitted(t, &c, []int{1, 2}, func(_ context.Context, n int) (int, error) {
			met.Done()
			met.Wait() // for the other one
			return 10 * n, nil
		})
		if err != nil || !slices.Equal(got, []int{10, 20}) {
			t.Errorf("%v, %v, want 10 and 20", got, err)
		}
	}
	if got, err := emitted(t, &c, nil, nil); got != nil || err != nil {
		t.Errorf("a bundle without elements emits %v, %v", got, err)
	}
}

// TestConcurrentFails checks that an element that fails cancels the one beside it and keeps further ones from being
// processed, and that its own error is returned.
func TestConcurrentFails(t *testing.T) {
	failure := errors.New("no space left")
	var c Concurrent[int]
	got, err := emitted(t, &c, []int{1, 2, 3}, func(ctx context.Context, n int) (int, error) {
		switch n {
		case 1:
			<-ctx.Done()
			return 0, ctx.Err()
		case 2:
			return 0, failure
		}
		t.Errorf("element %d is processed", n)
		return n, nil
	})
	if got != nil || !errors.Is(err, failure) {
		t.Errorf("%v, %v, want the error %v", got, err, failure)
	}
	Stop() // returns, since nothing is processed any more
	Start()
}

// TestConcurrentPanics checks that the panic of an element is one of the DoFn, whether or not another element follows
// it, and that no thread is lost by it.
func TestConcurrentPanics(t *testing.T) {
	for _, numbers := range [][]int{{1}, {1, 2, 3}} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "out of range\ngoroutine ") {
					t.Errorf("panic %q", text)
				}
			}()
			_, err := emitted(t, new(Concurrent[int]), numbers, func(ctx context.Context, n int) (int, error) {
				if n == 1 {
					panic("out of range")
				}
				<-ctx.Done() // so that the third one finds the panic
				return n, nil
			})
			t.Errorf("error %v, want a panic", err)
		}()
		Stop() // returns, since nothing is processed any more
		Start()
	}
}

// TestConcurrentIsCanceled checks that no element is begun after a cancellation.
func TestConcurrentIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var c Concurrent[int]
	interrupt := errors.New("interrupted")
	cancel(interrupt)
	err := c.Go(ctx, 2, func(context.Context) (int, error) {
		t.Error("an element is begun")
		return 0, nil
	})
	if !errors.Is(err, interrupt) {
		t.Errorf("error %v, want %v", err, interrupt)
	}
}

// TestConcurrentIsStopped checks that Stop ends elements that are processed.
func TestConcurrentIsStopped(t *testing.T) {
	defer Start()
	var c Concurrent[int]
	if err := c.Go(t.Context(), 2, func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}); err != nil {
		t.Fatal(err)
	}
	Stop()
	if got, err := emitted(t, &c, nil, nil); got != nil || !errors.Is(err, errStopped) {
		t.Errorf("%v, %v, want the error %v", got, err, errStopped)
	}
}
