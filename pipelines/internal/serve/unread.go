package serve

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"tagnet/pipelines/internal/cli/command"
)

// mostUnread bounds the bytes that wait for the reader of an output.
const mostUnread = 1 << 20

// unread is an output whose reader may have stopped, such as a pipe to a suspended program: Write never waits. It keeps
// up to mostUnread bytes until they are read, and drops and counts the lines after that. The reader gets the number of
// dropped lines in their place.
type unread struct {
	w    io.Writer
	mu   sync.Mutex
	held []byte
	lost int           // lines after those that are held
	idle chan struct{} // closed when all is written, nil if it is
}

// unwaiting returns an environment whose outputs never wait for a reader, and the function that
// writes the rest of them.
func unwaiting(e *command.Environment) (said *command.Environment, flush func()) {
	copied, out, failures := *e, &unread{w: e.Out}, &unread{w: e.Err}
	copied.Out, copied.Err = out, failures
	return &copied, func() { out.flush(); failures.flush() }
}

// Write takes whole lines.
func (u *unread) Write(text []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lost > 0 || len(u.held)+len(text) > mostUnread {
		u.lost += bytes.Count(text, []byte("\n"))
		return len(text), nil
	}
	u.held = append(u.held, text...)
	if u.idle == nil {
		u.idle = make(chan struct{})
		go u.write()
	}
	return len(text), nil
}

// write writes what is held, until there is no more.
func (u *unread) write() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.held) > 0 {
		text := u.held
		if u.lost > 0 {
			text = fmt.Appendf(text, "%d lines are left out here: nobody read this output\n", u.lost)
		}
		u.held, u.lost = nil, 0
		u.mu.Unlock()
		_, _ = u.w.Write(text) // an error of standard output is that of the process
		u.mu.Lock()
	}
	close(u.idle)
	u.idle = nil
}

// flush waits until all is written, but not long for a reader.
func (u *unread) flush() {
	u.mu.Lock()
	idle := u.idle
	u.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-time.After(time.Second):
	}
}
