package worker

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Concurrent processes the elements of one bundle of Beam's at the same time, as far as threads are free, also on a
// runner that passes one element after the other: ProcessElement calls Go, and FinishBundle calls Finish. A DoFn holds
// one for all of its bundles. R is the type of an element's result.
type Concurrent[R any] struct {
	ctx     context.Context // of the bundle
	cancel  context.CancelFunc
	running sync.WaitGroup
	results []*R // in the order of the elements

	mu  sync.Mutex
	err error // of the first element that failed
}

// Go waits for a thread, as Enter does, and calls work in a goroutine, with a context that ends when an element fails.
// work must not use what belongs to a call of ProcessElement, such as the iterator over the values of a key. Go returns
// the error of an element that has failed, or that ctx is canceled.
func (c *Concurrent[R]) Go(ctx context.Context, threads int, work func(context.Context) (R, error)) error {
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancel(ctx)
	}
	within, leave, err := Enter(c.ctx, threads)
	if err != nil {
		return err
	}
	if within.Err() != nil {
		leave() // before failure, which may panic
		return cmp.Or(c.failure(), context.Cause(within))
	}
	result := new(R)
	c.results = append(c.results, result)
	c.running.Go(func() {
		defer leave()
		defer func() {
			if p := recover(); p != nil {
				c.fail(panicked(fmt.Sprintf("%v\n%s", p, debug.Stack())))
			}
		}()
		var err error
		if *result, err = work(within); err != nil {
			c.fail(err)
		}
	})
	return nil
}

// Finish waits until all elements of the bundle are processed and emits their results in the order of the elements, or
// returns the error of the first that failed and emits none. It is then ready for the next bundle.
func (c *Concurrent[R]) Finish(emit func(R)) error {
	if c.ctx == nil {
		return nil
	}
	c.running.Wait()
	c.cancel()
	if err := c.failure(); err != nil {
		return err
	}
	for _, result := range c.results {
		emit(*result)
	}
	c.ctx, c.results = nil, nil
	return nil
}

// Drain returns the values of a key, for work that outlasts the call of ProcessElement.
func Drain[V any](values func(*V) bool) (list []V) {
	var value V
	for values(&value) {
		list = append(list, value)
	}
	return list
}

// fail keeps the first error and cancels the other elements, which fail too.
func (c *Concurrent[R]) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.cancel()
}

// failure returns the first error. It panics where an element did, as Beam tells a panic of a DoFn from an error.
func (c *Concurrent[R]) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.err.(panicked); ok {
		panic(string(p))
	}
	return c.err
}

// panicked is the panic of an element with its stack.
type panicked string

// Error returns the text of the panic.
func (p panicked) Error() string { return string(p) }
