package pipelinetest

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/pipelines/internal/cli/command"
)

// contested is memory as storage of the scheme contested://, in which another run takes a folder
// over as soon as a file of it is created.
type contested struct {
	mu     sync.Mutex
	folder string // the path to take over, empty if none or if it is taken over
	lock   lock.Lock
}

var contest contested

func init() { storage.Register("contested", &contest) }

func inMemory(path string) string { return "mem://" + path }

// takeOver does what the start of a run with --force does to a folder.
func (c *contested) takeOver(ctx context.Context, path string) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folder == "" || !strings.HasPrefix(path, c.folder+"/") {
		return nil
	}
	folder := inMemory(c.folder)
	c.folder = ""
	if c.lock, err = lock.Acquire(ctx, folder, "another run", true); err != nil {
		return err
	}
	return storage.Clear(ctx, folder, storage.Join(folder, lock.FileName))
}

func (c *contested) Create(ctx context.Context, path string) (storage.Writer, error) {
	if err := c.takeOver(context.WithoutCancel(ctx), path); err != nil {
		return nil, err
	}
	return storage.Create(ctx, inMemory(path))
}

func (c *contested) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	return storage.Open(ctx, inMemory(path))
}

func (c *contested) OpenRandom(ctx context.Context, path string) (storage.RandomReader, error) {
	return storage.OpenRandom(ctx, inMemory(path))
}

func (c *contested) Exists(ctx context.Context, path string) (bool, error) {
	return storage.Exists(ctx, inMemory(path))
}

func (c *contested) Remove(ctx context.Context, path string) error {
	return storage.Remove(ctx, inMemory(path))
}

func (c *contested) RemoveAll(ctx context.Context, path string) error {
	return storage.RemoveAll(ctx, inMemory(path))
}

func (c *contested) List(ctx context.Context, path string) ([]string, error) {
	urls, err := storage.List(ctx, inMemory(path))
	for i, url := range urls {
		urls[i] = "contested" + strings.TrimPrefix(url, "mem")
	}
	return urls, err
}

func (c *contested) CheckWritable(context.Context, string) error { return nil }

func (c *contested) CompareAndSwap(ctx context.Context, path string, old, replacement []byte) (bool, error) {
	return storage.CompareAndSwap(ctx, inMemory(path), old, replacement)
}

// TakenOver runs a pipeline in a workspace with the files of another one, and has another run take a
// folder over when the pipeline creates the first file there. It checks that the pipeline fails and
// leaves no file in the other run's folder.
func TakenOver(t *testing.T, p command.Pipeline, workspace, folder string, arguments ...string) {
	t.Helper()
	ctx := t.Context()
	name := strings.ReplaceAll(t.Name(), "/", "-")
	copied := "contested://" + name
	defer storage.RemoveAll(context.Background(), inMemory(name))
	for file, text := range Files(t, workspace) {
		if err := storage.WriteFile(ctx, storage.Join(copied, file), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	contest.mu.Lock()
	contest.folder = name + "/" + folder
	contest.mu.Unlock()
	Fail(t, p, Failure{Code: command.ExitFailure, Says: []string{"another run took over"}}, append([]string{"--workspace", copied}, arguments...)...)
	if contest.folder != "" {
		t.Fatalf("%s wrote nothing to %s", p.Name, folder)
	}
	left := Files(t, storage.Join(copied, folder))
	if diff := cmp.Diff([]string{lock.FileName}, slices.Sorted(maps.Keys(left))); diff != "" {
		t.Errorf("files of the other run's folder (-want +got):\n%s", diff)
	}
	SameText(t, lock.FileName, left[lock.FileName], contest.lock.Content)
}
