package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/term"

	"tagnet/infra/experiments/internal/engine"
)

// The times between two lines of progress.
const (
	onTerminal = time.Second
	elsewhere  = 5 * time.Minute
)

// progress shows the current runs and the time left: a line that is redrawn on a terminal, else a line every few minutes.
type progress struct {
	s        *session
	terminal bool
	mu       sync.Mutex
	running  []engine.Event
	quit     chan struct{}
	ended    sync.WaitGroup
}

func newProgress(s *session) *progress {
	p := &progress{s: s, quit: make(chan struct{})}
	every := elsewhere
	if file, ok := s.diagnostics.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.terminal, every = true, onTerminal
	}
	p.ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.draw()
			case <-p.quit:
				return
			}
		}
	})
	return p
}

func (p *progress) begin(e engine.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, e)
}

func (p *progress) end(e engine.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = slices.DeleteFunc(p.running, func(other engine.Event) bool { return other.ID() == e.ID() })
}

// above clears the line of progress and calls print, which writes whole lines.
func (p *progress) above(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	print()
}

func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.s.diagnostics, "\r\x1b[K")
	}
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.running) == 0 {
		return
	}
	epochs := map[string]int{}
	list := ""
	for _, e := range p.running {
		t := p.s.engine.Progress(context.Background(), e.Run)
		epochs[e.ID()] = t.Epochs
		p.s.estimates.Observe(e.Run, t, e.Threads)
		list = joined(list, fmt.Sprintf("%s epoch %d of %d", e.ID(), min(epochs[e.ID()]+1, e.Configuration.Epochs), e.Configuration.Epochs))
	}
	text := fmt.Sprintf("%d of %d runs done, %s; %s", p.s.count(engine.Done), len(p.s.runs), p.s.timeLeft(epochs), list)
	if !p.terminal {
		fmt.Fprintln(p.s.diagnostics, text)
		return
	}
	if width, _, err := term.GetSize(int(p.s.diagnostics.(*os.File).Fd())); err == nil && len(text) >= width && width > 3 {
		text = text[:width-3] + "..."
	}
	p.clear()
	fmt.Fprint(p.s.diagnostics, text)
}

// stop ends the display.
func (p *progress) stop() {
	close(p.quit)
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
