package tuning

import "sync"

// clock adds up the time of trainings that run at the same time.
type clock struct {
	mu         sync.Mutex
	used, most float64 // seconds; most is 0 without a bound
}

func (c *clock) add(seconds float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used += seconds
}

// over reports whether all of the time is used.
func (c *clock) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most > 0 && c.used >= c.most
}
