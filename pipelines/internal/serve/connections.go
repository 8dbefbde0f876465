package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// The limits of connections. The connections beyond mostRequests are for clients that send nothing, and for those that are
// told at once that the server is busy.
const (
	mostConnections = 512
	mostRequests    = 448
	mostHeader      = 32 << 10
	headerTimeout   = 5 * time.Second
	bodyTimeout     = 10 * time.Second
	refusedTimeout  = time.Second      // for the rest of the body of a request that is refused
	writeTimeout    = 10 * time.Second // for a response, beside --timeout
	idleTimeout     = time.Minute
)

// connections are the open connections of an http.Server, at most mostConnections. A new client never waits for one that
// sends nothing: where it is one too many, the connection that has waited longest for a request is closed.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]connection
}

// connection is the state of a connection: new until the header of its first request is complete, active until the response
// is written, and idle until the header of the next request is complete.
type connection struct {
	state http.ConnState
	since time.Time
}

// follow is the ConnState of an http.Server.
func (c *connections) follow(changed net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(c.open, changed)
		return
	}
	if _, found := c.open[changed]; !found && state != http.StateNew {
		return // it was closed below
	}
	c.open[changed] = connection{state, time.Now()}
	if len(c.open) <= mostConnections {
		return
	}
	var longest net.Conn
	for other, of := range c.open {
		if of.state != http.StateActive && (longest == nil || of.since.Before(c.open[longest].since)) {
			longest = other
		}
	}
	delete(c.open, longest)
	longest.Close()
}

// count returns the number of connections in any of some states.
func (c *connections) count(states ...http.ConnState) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.open {
		for _, state := range states {
			if of.state == state {
				n++
			}
		}
	}
	return n
}

// crowded reports whether more connections than mostRequests have a request.
func (c *connections) crowded() bool { return c.count(http.StateActive) > mostRequests }

// wait waits until no connection is new or active, or ctx is done.
func (c *connections) wait(ctx context.Context) {
	const pause = 5 * time.Millisecond
	for ctx.Err() == nil && c.count(http.StateNew, http.StateActive) > 0 {
		time.Sleep(pause)
	}
}
