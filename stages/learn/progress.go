package learn

import (
	"context"
	"sync"
)

// Progress is how far a training is, told after each step.
type Progress struct {
	// Epoch is under way, of Epochs.
	Epoch, Epochs int
	// Queries of the epoch are trained, of Facts.
	Queries, Facts int64
	// Validated queries of the epoch, of Validations; 0 while it trains.
	Validated, Validations int64
	// Loss is the epoch's mean so far.
	Loss float64
	// Finished is set once at the end of an epoch.
	Finished *Epoch
	// Resumed names, once, the checkpoint that the training goes on from, and Damaged what
	// was passed over because it cannot be read.
	Resumed string
	Damaged []string
	// OtherKernel, beside Resumed, is the variant of the kernels that learned the epoch before,
	// where that is another than this training's.
	OtherKernel string
}

func (l *learner) progress(validated int64) Progress {
	p := Progress{
		Epoch: l.epoch, Epochs: l.Configuration.Epochs,
		Queries: l.partial.Queries, Facts: int64(len(l.Deck.Facts())),
		Validated: validated, Validations: l.validQuery,
	}
	if p.Queries > 0 {
		p.Loss = l.partial.Loss / float64(p.Queries)
	}
	return p
}

// Watch has progress told to a function, from the training that runs in this process, until
// stop is called. On a runner with workers elsewhere it hears nothing; the counters of the
// stage tell there. The function is not called concurrently.
func Watch(tell func(Progress)) (stop func()) {
	watching.Lock()
	defer watching.Unlock()
	watching.tell, watching.stopped = tell, false
	return func() {
		watching.Lock()
		defer watching.Unlock()
		watching.tell = nil
	}
}

var watching struct {
	sync.Mutex
	tell    func(Progress)
	stop    context.CancelFunc
	stopped bool
}

// Stop has the training that is watched in this process, or is about to begin there, write a
// checkpoint and end with an error.
func Stop() {
	watching.Lock()
	defer watching.Unlock()
	watching.stopped = true
	if watching.stop != nil {
		watching.stop()
	}
}

// stoppable is a context that Stop cancels, until the returned function is called.
func stoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	watching.Lock()
	defer watching.Unlock()
	watching.stop = cancel
	if watching.stopped {
		cancel()
	}
	return ctx, cancel
}

func tellWatcher(p Progress) {
	watching.Lock()
	defer watching.Unlock()
	if watching.tell != nil {
		watching.tell(p)
	}
}

// count adds up what several goroutines have done and tells the sum, one at a time.
type count struct {
	mu   sync.Mutex
	sum  int64
	tell func(sum int64)
}

func newCount(tell func(int64)) *count { return &count{tell: tell} }

func (c *count) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum += int64(n)
	c.tell(c.sum)
}
