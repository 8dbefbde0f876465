package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestWorkersRunsEachTaskOnce(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{0, 1, 2, 7, 100} {
		for _, tasks := range []int{0, 1, 2, 50} {
			runs := make([]atomic.Int64, tasks)
			busy := make([]atomic.Bool, max(1, workers))
			Workers(workers, tasks, func(worker, task int) {
				if busy[worker].Swap(true) {
					t.Errorf("worker %d runs two tasks at once", worker)
				}
				runs[task].Add(1)
				busy[worker].Store(false)
			})
			for task := range runs {
				if n := runs[task].Load(); n != 1 {
					t.Errorf("%d workers: task %d of %d ran %d times", workers, task, tasks, n)
				}
			}
		}
	}
}

func TestTryStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	want := errors.New("task 3")
	for _, workers := range []int{1, 3} {
		var after atomic.Int64
		err := Try(t.Context(), workers, 1000, func(_ context.Context, _, task int) error {
			if task == 3 {
				return want
			}
			if task > 500 {
				after.Add(1)
			}
			return nil
		})
		if !errors.Is(err, want) {
			t.Errorf("%d workers: error %v, want %v", workers, err, want)
		}
		if workers == 1 && after.Load() > 0 {
			t.Errorf("%d tasks ran after the error", after.Load())
		}
	}
}

func TestTryIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Try(ctx, 2, 10, func(context.Context, int, int) error {
		t.Error("a task ran after the context was canceled")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
