package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is the program that is measured. It is started again on its port after a kill.
type server struct {
	program, workspace string
	diagnostics        io.Writer
	address            string // host:port

	mu      sync.Mutex
	process *exec.Cmd
}

// start starts the program on a free port and waits until it listens.
func start(ctx context.Context, program, workspace string, diagnostics io.Writer) (*server, error) {
	s := &server{program: program, workspace: workspace, diagnostics: diagnostics, address: "127.0.0.1:0"}
	return s, s.launch(ctx)
}

func (s *server) launch(ctx context.Context) error {
	c := exec.Command(s.program, "--workspace", s.workspace, "--listen", s.address)
	c.Stderr = s.diagnostics
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("starting --program: %w", err)
	}
	s.mu.Lock()
	s.process = c
	s.mu.Unlock()
	defer context.AfterFunc(ctx, s.kill)()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listening on http://"); ok {
			s.address = strings.TrimSpace(url)
			go io.Copy(io.Discard, out)
			return nil
		}
	}
	return fmt.Errorf("%s ended before it listened: %w", s.program, c.Wait())
}

// kill ends the process at once.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// again kills the process and starts another one on the same port.
func (s *server) again(ctx context.Context) error {
	s.kill()
	return s.launch(ctx)
}

// stop interrupts the process. It is an error unless it ends with exit code 0 in time.
func (s *server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.process
	s.process = nil
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	const patience = time.Minute
	timer := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	if err := c.Wait(); err != nil {
		return fmt.Errorf("the server after an interrupt: %w", err)
	}
	return nil
}

// measure returns a value of /metrics.
func (s *server) measure(ctx context.Context, name string) (float64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(text, 64)
		}
	}
	return 0, fmt.Errorf("/metrics has no %s: %w", name, os.ErrNotExist)
}
