package worker

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Counter is a Beam counter that also counts in this process, for progress bars. Runners update
// their counters rarely, and of several elements that are processed at the same time Beam's local
// runner shows the counts of one only.
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

// Inc adds to the counter. The context is the one that Beam passed to the DoFn.
func (c Counter) Inc(ctx context.Context, n int64) {
	c.beam.Inc(ctx, n)
	c.local.Add(n)
}

// Adder returns a function that adds to the counter, for goroutines that share the context of a DoFn.
func (c Counter) Adder(ctx context.Context) func(n int) {
	var counting sync.Mutex
	return func(n int) {
		counting.Lock()
		defer counting.Unlock()
		c.Inc(ctx, int64(n))
	}
}

// Counted returns what the counters of that name counted in this process since it began, in all
// pipelines, repeated elements included.
func Counted(name string) int64 { return count(name).Load() }
