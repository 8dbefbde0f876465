package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups receives SIGHUP, which asks for a reload. The system sends it, too, when the terminal is closed that the
// server was started in.
type hangups struct {
	received chan os.Signal
	terminal bool // there was one, and its end is to end the server
}

func newHangups() *hangups {
	h := &hangups{received: make(chan os.Signal, 1), terminal: !signal.Ignored(syscall.SIGHUP) && hasTerminal()} // ignored under nohup
	signal.Notify(h.received, syscall.SIGHUP)
	return h
}

func (h *hangups) stop() { signal.Stop(h.received) }

// closed reports whether the terminal of the process was closed.
func (h *hangups) closed() bool { return h.terminal && !hasTerminal() }

// hasTerminal reports whether the process has a controlling terminal.
func hasTerminal() bool {
	file, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	file.Close()
	return true
}
