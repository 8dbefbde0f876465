package worker

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Counter is a Beam counter that also counts in this process, for progress bars: runners update their counters rarely.
// Goroutines may share it and the context of a DoFn, which they must not with a counter of Beam's alone.
type Counter struct {
	beam  beam.Counter
	local *atomic.Int64
}

// counts are the local counts by name.
var counts sync.Map // map[string]*atomic.Int64

func count(name string) *atomic.Int64 {
	c, _ := counts.LoadOrStore(name, new(atomic.Int64))
	return c.(*atomic.Int64)
}

// NewCounter returns the counter of that name. Counters of one name in several namespaces share
// their local count.
func NewCounter(namespace, name string) Counter {
	return Counter{beam.NewCounter(namespace, name), count(name)}
}

// counting guards the counters that Beam keeps in a context.
var counting sync.Mutex

// Inc adds to the counter. The context is the one that Beam passed to the DoFn, or derived from it.
func (c Counter) Inc(ctx context.Context, n int64) {
	c.local.Add(n)
	counting.Lock()
	defer counting.Unlock()
	c.beam.Inc(ctx, n)
}

// Adder returns a function that adds to the counter.
func (c Counter) Adder(ctx context.Context) func(n int) {
	return func(n int) { c.Inc(ctx, int64(n)) }
}

// Counted returns what the counters of that name counted in this process since it began, in all
// pipelines, repeated elements included.
func Counted(name string) int64 { return count(name).Load() }
