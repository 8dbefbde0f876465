package serve

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The limits of connections. The connections beyond mostRequests are for clients that send nothing, and for clients
// that are told at once that the server is busy.
const (
	mostConnections = 512
	mostRequests    = 448
	mostHeader      = 32 << 10
	headerTimeout   = 5 * time.Second
	bodyTimeout     = 10 * time.Second
	refusedTimeout  = time.Second      // for the rest of the body of a request that is refused
	waitingTimeout  = time.Second      // for a request, while another client waits for a connection
	writeTimeout    = 10 * time.Second // for a response, beside --timeout
	idleTimeout     = time.Minute
)

// connections are the open connections of an http.Server, at most mostConnections. Where a new one is one too many,
// the connection that has waited longest for a request is closed, once it has waited for waitingTimeout: of many
// clients that come at the same time, none is cut off before its request is read, and none waits longer for one
// that sends nothing.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]connection
}

// connection is the state of a connection: new until the header of its first request is complete, active until the
// response is written, and idle until the header of the next request is complete.
type connection struct {
	state http.ConnState
	since time.Time
}

// follow is the ConnState of an http.Server, which accepts no other connection while it is called with a new one.
func (c *connections) follow(changed net.Conn, state http.ConnState) {
	if state == http.StateNew {
		const pause = time.Millisecond
		for begun := time.Now(); c.full() && time.Since(begun) < waitingTimeout; {
			time.Sleep(pause)
		}
	}
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
	longest := c.longest()
	delete(c.open, longest)
	longest.Close()
}

// longest returns the connection that has waited longest for a request, nil if all have one. The caller holds mu.
func (c *connections) longest() (longest net.Conn) {
	for other, connection := range c.open {
		if connection.state != http.StateActive && (longest == nil || connection.since.Before(c.open[longest].since)) {
			longest = other
		}
	}
	return longest
}

// full reports whether there is no connection for a new client, and none that has waited for waitingTimeout.
func (c *connections) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) < mostConnections {
		return false
	}
	longest := c.longest()
	return longest == nil || time.Since(c.open[longest].since) < waitingTimeout
}

// count returns the number of connections in any of some states.
func (c *connections) count(states ...http.ConnState) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, connection := range c.open {
		if slices.Contains(states, connection.state) {
			n++
		}
	}
	return n
}

// wait waits until no connection is new or active, or ctx is done.
func (c *connections) wait(ctx context.Context) {
	const pause = 5 * time.Millisecond
	for ctx.Err() == nil && c.count(http.StateNew, http.StateActive) > 0 {
		time.Sleep(pause)
	}
}
