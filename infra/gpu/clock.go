package main

import "time"

// clock divides the time of a run, which begins when the process does.
type clock struct {
	now   func() time.Time
	start time.Time
	limit time.Duration
}

// spent returns the time since the start.
func (c clock) spent() time.Duration { return c.now().Sub(c.start) }

// left reports whether more than reserve is left.
func (c clock) left(reserve time.Duration) bool { return c.limit-c.spent() > reserve }

// What is set aside at the end of a run: to write the last checkpoint, and to score the test split.
const (
	storing = 12 * time.Second
	scoring = 20 * time.Second
)

// reserve returns what training leaves of the time.
func reserve(scores bool) time.Duration {
	if scores {
		return storing + scoring
	}
	return storing
}
