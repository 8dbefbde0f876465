package counter

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Counter is a counter of Beam that counts in this process as well.
type Counter struct {
	beam beam.Counter
	here *atomic.Int64
}

// here are the sums of this process by the counters' names.
var here sync.Map // of *atomic.Int64

func sum(name string) *atomic.Int64 {
	sum, _ := here.LoadOrStore(name, new(atomic.Int64))
	return sum.(*atomic.Int64)
}

// New is the counter of that name, of which there may be one in each of several namespaces.
func New(namespace, name string) Counter {
	return Counter{beam.NewCounter(namespace, name), sum(name)}
}

// Inc adds to the counter. The context is the one that Beam gave to the DoFn.
func (c Counter) Inc(ctx context.Context, n int64) {
	c.beam.Inc(ctx, n)
	c.here.Add(n)
}

// Here is what the counters of that name counted in this process since it began, in all jobs and
// again where something was repeated.
func Here(name string) int64 { return sum(name).Load() }
