package golden

import "context"

// Ending returns a context that is canceled once Err was asked a number of times. It is for one goroutine.
func Ending(parent context.Context, checks int) context.Context {
	return &ending{parent, checks}
}

// ending is a context that ends after a number of calls of Err.
type ending struct {
	context.Context
	checks int
}

func (e *ending) Err() error {
	if e.checks--; e.checks < 0 {
		return context.Canceled
	}
	return nil
}
