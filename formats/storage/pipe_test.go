//go:build unix

package storage_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tagnet/formats/storage"
)

// within fails unless a call returns soon: opening a pipe without another end waits for ever.
func within(t *testing.T, what string, call func() error) (err error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err = <-done:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s waits", what)
	}
	return err
}

// TestSpecialFiles reads and writes names that stand for no regular file.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "s") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	pipe, socket, through := filepath.Join(folder, "pipe"), filepath.Join(folder, "socket"), filepath.Join(folder, "link")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, through)); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{pipe: "a named pipe", through: "a named pipe", socket: "a socket", "/dev/zero": "a device"} {
		for what, call := range map[string]func() error{
			"Open":       func() error { _, err := storage.Open(t.Context(), path); return err },
			"OpenRandom": func() error { _, err := storage.OpenRandom(t.Context(), path); return err },
			"ReadFile":   func() error { _, err := storage.ReadFile(t.Context(), path); return err },
		} {
			want := "reading " + path + ": it is " + kind + ", not a regular file: remove it"
			if err := within(t, what, call); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", what, err, want)
			}
		}
		if path == through {
			kind = "a symbolic link"
		}
		for what, call := range map[string]func() error{
			"WriteFile":      func() error { return storage.WriteFile(t.Context(), path, nil) },
			"CompareAndSwap": func() error { _, err := storage.CompareAndSwap(t.Context(), path, []byte{}, nil); return err },
			"CheckRegular":   func() error { return storage.CheckRegular(t.Context(), filepath.Dir(path), path) },
		} {
			if err := within(t, what, call); err == nil || !strings.HasPrefix(err.Error(), "writing "+path+": it is "+kind) ||
				!strings.Contains(err.Error(), "remove it") {
				t.Errorf("%s: error %v, want one about %s", what, err, kind)
			}
		}
	}
	if err := storage.Clear(t.Context(), folder, ""); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

// TestOpenStream reads a pipe and a file.
func TestOpenStream(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	pipe, file := filepath.Join(folder, "pipe"), filepath.Join(folder, "file")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	go func() { os.WriteFile(pipe, []byte("text"), 0o600) }()
	for _, path := range []string{pipe, file} {
		r, err := storage.OpenStream(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); string(text) != "text" || err != nil {
			t.Errorf("%s: %q, error %v", path, text, err)
		}
		r.Close()
	}
	if _, err := storage.OpenStream(t.Context(), folder); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := storage.OpenStream(t.Context(), filepath.Join(folder, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
}
