package serve

import (
	"context"
	"sync"
)

// admission counts the queries that are under way, from the arrival of their request until its response is written.
type admission struct {
	mu         sync.Mutex
	used, most int
}

// enter admits a number of queries, all or none, and reports whether it did.
func (a *admission) enter(queries int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used+queries > a.most {
		return false
	}
	a.used += queries
	return true
}

func (a *admission) leave(queries int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used -= queries
}

func (a *admission) inUse() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

// admitted are the queries of one request. A request is admitted as one query before its body is read, and with the
// rest of them afterwards.
type admitted struct {
	admission *admission
	count     int
}

type admittedKey struct{}

// admitRest admits the queries of a request beyond its first one, and reports whether it did. queries is their number,
// the first one included.
func admitRest(ctx context.Context, queries int) bool {
	a := ctx.Value(admittedKey{}).(*admitted)
	if !a.admission.enter(queries - 1) {
		return false
	}
	a.count = queries
	return true
}

func (a *admitted) leave() { a.admission.leave(a.count) }
