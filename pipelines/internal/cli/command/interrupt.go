package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// interruptible returns a context that the first interrupt cancels. The second one prints what
// OnSecondInterrupt was given and ends the process.
func interruptible(p Pipeline) context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !p.Serves && !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	received := make(chan os.Signal, 2)
	signal.Notify(received, signals...)
	second := &secondInterrupt{}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), secondInterruptKey{}, second))
	go func() {
		<-received
		cancel()
		<-received
		time.AfterFunc(time.Second, func() { os.Exit(ExitInterrupted) }) // where nobody reads the line
		if lost := second.message(); lost != "" {
			fmt.Fprintf(os.Stderr, "%s: interrupted again: %s\n", p.Name, lost)
		}
		os.Exit(ExitInterrupted)
	}()
	return ctx
}

type secondInterruptKey struct{}

// secondInterrupt holds the message of a process that a second interrupt ends.
type secondInterrupt struct {
	mu   sync.Mutex
	lost []func() string
}

// message returns what a second interrupt would lose, "" for nothing.
func (s *secondInterrupt) message() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var clauses []string
	for _, lost := range s.lost {
		clauses = append(clauses, lost())
	}
	return strings.Join(clauses, "; ")
}

// OnSecondInterrupt adds, until the returned function is called, to what the process prints when a
// second interrupt ends it: a clause that says what is lost. Calls are undone in reverse order.
func OnSecondInterrupt(ctx context.Context, lost func() string) (end func()) {
	s, ok := ctx.Value(secondInterruptKey{}).(*secondInterrupt)
	if !ok { // not run by Main
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, lost)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lost = s.lost[:len(s.lost)-1]
	}
}
