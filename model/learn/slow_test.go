package learn

import (
	"context"
	"errors"
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
	storagetest.Over
	mu      sync.Mutex
	ending  string
	started func()
}

func init() { storage.Register("slow", &slowStorage) }

var slowStorage = slow{Over: storagetest.Over{Scheme: "slow://", Base: inMemoryScheme}}

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
	return s.Over.Create(ctx, path)
}

// An interrupt while a checkpoint is written does not abort it, however slow the storage is.
func TestInterruptWaitsForSlowStorage(t *testing.T) {
	for name, ending := range map[string]string{"weights": "step-00000002.safetensors", "solver": "step-00000002.optimizer.safetensors",
		"record": "step-00000002.json"} {
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
