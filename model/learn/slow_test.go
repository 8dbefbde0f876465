package learn

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/model/weights/checkpoint"
)

// slow is a file system in memory whose writes take a while, and fail when their context is canceled.
// It calls started when a file with the ending is created.
type slow struct {
	mu      sync.Mutex
	ending  string
	started func()
}

func init() { storage.Register("slow", &slowStorage) }

var slowStorage slow

func (s *slow) when(ending string, started func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending, s.started = ending, started
}

const inMemoryScheme = "mem://"

func (s *slow) Create(ctx context.Context, path string) (storage.Writer, error) {
	s.mu.Lock()
	if s.started != nil && strings.HasSuffix(path, s.ending) {
		s.started()
	}
	s.mu.Unlock()
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return storage.Create(ctx, inMemoryScheme+path)
}

func (s *slow) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	return storage.Open(ctx, inMemoryScheme+path)
}

func (s *slow) OpenRandom(ctx context.Context, path string) (storage.RandomReader, error) {
	return storage.OpenRandom(ctx, inMemoryScheme+path)
}

func (s *slow) Exists(ctx context.Context, path string) (bool, error) {
	return storage.Exists(ctx, inMemoryScheme+path)
}

func (s *slow) Remove(ctx context.Context, path string) error {
	return storage.Remove(ctx, inMemoryScheme+path)
}

func (s *slow) RemoveAll(ctx context.Context, path string) error {
	return storage.RemoveAll(ctx, inMemoryScheme+path)
}

func (s *slow) List(ctx context.Context, path string) ([]string, error) {
	urls, err := storage.List(ctx, inMemoryScheme+path)
	for i, url := range urls {
		urls[i] = "slow://" + strings.TrimPrefix(url, inMemoryScheme)
	}
	return urls, err
}

func (s *slow) CheckWritable(context.Context, string) error { return nil }

func (s *slow) CompareAndSwap(ctx context.Context, path string, old, replacement []byte) (bool, error) {
	return storage.CompareAndSwap(ctx, inMemoryScheme+path, old, replacement)
}

// An interrupt while a checkpoint is written does not abort it, however slow the storage is.
func TestInterruptWaitsForSlowStorage(t *testing.T) {
	for name, ending := range map[string]string{"weights": "step-00000002.safetensors", "solver": "step-00000002.optimizer.safetensors", "record": "step-00000002.json"} {
		t.Run(name, func(t *testing.T) {
			folder := strings.TrimPrefix(storagetest.Memory(t), inMemoryScheme)
			run := toyRun("slow://" + folder + "/toy")
			run.Every = 0 // a checkpoint after each step
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			slowStorage.when(ending, cancel)
			defer slowStorage.when("", nil)
			if _, err := Train(ctx, run, toy(t), nil); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want an interruption", err)
			}
			state, damaged, err := checkpoint.Folder(run.Checkpoints).Newest(t.Context())
			if err != nil || len(damaged) > 0 || state.Record.Step != 2 {
				t.Fatalf("the newest checkpoint is of step %d (%v, damaged %v), want 2", state.Record.Step, err, damaged)
			}
		})
	}
}

// An interrupt right after the first step writes the first checkpoint, however slow the storage is.
func TestInterruptInTheFirstEpochKeepsItsSteps(t *testing.T) {
	folder := strings.TrimPrefix(storagetest.Memory(t), inMemoryScheme)
	run := toyRun("slow://" + folder + "/toy")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Train(ctx, run, toy(t), func(p Progress) {
		if p.Checkpoint != "" {
			t.Errorf("there is a checkpoint %s after %d queries", p.Checkpoint, p.Queries)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want an interruption", err)
	}
	state, _, err := checkpoint.Folder(run.Checkpoints).Newest(t.Context())
	if err != nil || state.Record.Step != 1 {
		t.Fatalf("the newest checkpoint is of step %d (%v), want 1", state.Record.Step, err)
	}
}
