package serve

import (
	"errors"
	"fmt"
	"net/http"
	"sync"

	"tagnet/formats/workspace/manifest"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
)

// reloader hands each request to the server of the newest graph. A request stays with the one that it came to.
type reloader struct {
	e *command.Environment
	// load opens the graph and model of the workspace as they are now; earlier are the settings of the server that is
	// open, or nil.
	load func(earlier *settings) (settings, error)
	// fit begins to make the probabilities of a server once the fit of the earlier server has ended, which
	// is nil for the first.
	fit func(s, earlier *server)

	reloading sync.Mutex // held by the reload under way
	waiting   sync.Mutex // held by the hangup that waits for its end
	mu        sync.RWMutex
	current   *server
	inUse     *sync.WaitGroup // requests of current
	earlier   chan struct{}   // closed when the server before it has answered its requests and closed its model; nil without one
}

// ServeHTTP answers a request with the newest server.
func (l *reloader) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.RLock()
	s, inUse := l.current, l.inUse
	inUse.Add(1)
	l.mu.RUnlock()
	defer inUse.Done()
	s.ServeHTTP(w, r)
}

// errReloading is the failure of a reload during another one.
var errReloading = &failure{status: http.StatusConflict, retry: 1, Text: "a reload is under way; try again when it has ended"}

// reload reloads for a request that came to a server. It returns errReloading during another reload, and if one has put
// another server in the place of this one since: it began before the request or beside it, and the next one would wait
// for the requests of the server that it replaced, of which this is one.
func (l *reloader) reload(from *server) (*server, error) {
	if !l.reloading.TryLock() {
		return nil, errReloading
	}
	defer l.reloading.Unlock()
	if l.current != from {
		return nil, errReloading
	}
	return l.replace()
}

// hangup reloads for a signal, after the reload under way if there is one, which may have opened what was there before
// the signal. Of several signals meanwhile one reloads.
func (l *reloader) hangup() {
	if !l.waiting.TryLock() {
		return
	}
	l.reloading.Lock()
	defer l.reloading.Unlock()
	l.waiting.Unlock()
	_, _ = l.replace() // which says how it went
}

// replace opens the graph and the model again, for the requests that come from then on, and prints the result. After an
// error the current graph and model answer as before. It holds two of each at a time, no third one: it waits for
// requests that the server before the current one has not answered yet. The caller holds reloading.
func (l *reloader) replace() (*server, error) {
	if l.earlier != nil {
		<-l.earlier
	}
	next, err := l.open()
	if err != nil {
		err = fmt.Errorf("the reload failed, and %s answers as before: %w", l.current.described(), err)
		fmt.Fprintf(l.e.Err, "serve: %s\n", command.OneLine(err))
		return nil, err
	}
	earlier, inUse, closed := l.current, l.inUse, make(chan struct{})
	l.fit(next, earlier)
	l.mu.Lock()
	l.current, l.inUse, l.earlier = next, new(sync.WaitGroup), closed
	l.mu.Unlock()
	go func() {
		defer close(closed)
		inUse.Wait()
		earlier.close()
	}()
	l.say(fmt.Sprintf("reloaded: %s%s", next.described(), next.computing()))
	return next, nil
}

// open opens the next server. A panic becomes an error.
func (l *reloader) open() (next *server, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	o, err := l.load(&l.current.settings)
	if err != nil {
		return nil, err
	}
	return l.current.server(o)
}

// close closes the model, after the last request.
func (l *reloader) close() {
	l.mu.RLock()
	defer l.mu.RUnlock()
	l.current.close()
}

// close ends the fit and closes the model, of no matter to later requests.
func (s *server) close() {
	s.stopFit()
	_ = s.model.Close()
}

// say prints a line. A fit calls it beside a reload.
func (l *reloader) say(line string) { l.e.Say("%s", line) }

// described returns the model and the size of its graph.
func (s *server) described() string {
	return fmt.Sprintf("%s: %s entities, %d relations", s.named, progress.Count(int64(len(s.model.Entities()))), len(s.model.Relations()))
}

// computing returns the device on which the model scores, behind a semicolon, or "" for the CPU by choice.
func (s *server) computing() string {
	if text := s.model.Device(); text != "" {
		return "; " + text
	}
	return ""
}

// answerReload reloads, for requests of this machine. The reload continues if the client leaves.
func (s *server) answerReload(w http.ResponseWriter, r *http.Request) error {
	if !s.local || s.reload == nil {
		return &failure{status: http.StatusForbidden,
			Text: "only a server that listens on this machine alone takes POST /reload; send its process SIGHUP instead"}
	}
	next, err := s.reload(s)
	replaced := new(manifest.Replaced)
	switch {
	case err == errReloading:
		return errReloading
	case errors.As(err, &replaced):
		return &failure{status: http.StatusConflict, retry: 1, Text: command.OneLine(err)}
	case err != nil:
		return &failure{status: http.StatusInternalServerError, Text: command.OneLine(err)}
	}
	return writeJSON(w, http.StatusOK, next.health(r.Context()))
}
