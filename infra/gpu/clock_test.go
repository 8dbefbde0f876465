package main

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	c := clock{func() time.Time { return at }, at, time.Minute}
	for _, test := range []struct {
		after   time.Duration
		reserve time.Duration
		left    bool
	}{
		{0, 0, true}, {0, 59 * time.Second, true}, {0, time.Minute, false}, {47 * time.Second, storing, true}, {48 * time.Second, storing, false},
		{27 * time.Second, reserve(true), true}, {28 * time.Second, reserve(true), false}, {28 * time.Second, reserve(false), true}, {2 * time.Minute, 0, false},
	} {
		at = time.Unix(1000, 0).Add(test.after)
		if got := c.left(test.reserve); got != test.left || c.spent() != test.after {
			t.Errorf("after %v, %v left: %v, want %v", c.spent(), test.reserve, got, test.left)
		}
	}
}
