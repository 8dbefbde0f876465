package pipelinetest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/storage/storagetest"
	"tagnet/pipelines/internal/cli/command"
)

// contested is memory as storage of the scheme contested://, in which another run takes a folder
// over as soon as a file of it is created.
type contested struct {
	storagetest.Over
	mu     sync.Mutex
	folder string // the path to take over, empty if none or if it is taken over
	lock   lock.Lock
}

var contest = contested{Over: storagetest.Over{Scheme: "contested://", Base: "mem://"}}

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
	return c.Over.Create(ctx, path)
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
