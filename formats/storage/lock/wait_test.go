//go:build darwin || linux

package lock

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// said receives the lines that are written to a log.
type said chan string

func (s said) Write(text []byte) (int, error) {
	s <- string(bytes.TrimSpace(text))
	return len(text), nil
}

// TestAWaitIsSaid checks that a run that takes over says who holds the lock, since when, while a stopped process has
// the lock file open.
func TestAWaitIsSaid(t *testing.T) {
	folder, before := t.TempDir(), slog.Default()
	defer slog.SetDefault(before)
	warnings := make(said, 1)
	slog.SetDefault(slog.New(slog.NewTextHandler(warnings, nil)))
	if _, err := Acquire(t.Context(), folder, "train --epochs 9", false); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(folder, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	lockTaken := make(chan error, 1)
	go func() {
		_, err := Acquire(t.Context(), folder, "train", true)
		lockTaken <- err
	}()
	select {
	case text := <-warnings:
		for _, want := range []string{"waiting for the lock file of " + folder, "is being written by process ", " since 2", "train --epochs 9"} {
			if !strings.Contains(text, want) {
				t.Errorf("it says %s, want %s", text, want)
			}
		}
	case <-time.After(5 * silence):
		t.Error("it waits in silence")
	}
	file.Close()
	if err := <-lockTaken; err != nil {
		t.Error(err)
	}
}
