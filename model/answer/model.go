package answer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/graph"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/ranking"
	"tagnet/model/relations"
)

// Model is a trained model over a graph.
type Model struct {
	Graph         *graph.Graph
	Configuration configuration.Configuration
	Parameters    *parameters.Set[float32]
	// Relations are the edges between the graph's relations, or nil: then they are made where the model needs them.
	Relations *relations.Graph
}

// Means are what a ranker computes with.
type Means struct {
	// Kernel and Threads serve a ranker on the processor.
	Kernel  kernel.Kernel
	Threads int
	// Device takes the processor's place, unless it is nil. Where the processor takes over again, Announce, which may be nil, is
	// called with what Device says.
	Device   Device
	Announce func(text string)
}

// New returns a ranker that keeps the selected candidates of each query. Concurrent calls of its Rank wait for one another. One
// on a device must be closed. If the device cannot score the model, or its memory turns out to be too small, and
// it is optional, the ranker is on the processor, or continues there.
func New(m Model, list ranking.Selection, with Means) (Ranker, error) {
	r := &ranker{model: m, list: list, with: with}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

// ranker ranks on a device while its memory suffices, else on the processor.
type ranker struct {
	model Model
	list  ranking.Selection
	with  Means

	busy    sync.Mutex
	current Ranker
}

// open makes the ranker for what is selected.
func (r *ranker) open() error {
	m := r.model
	if r.onDevice() {
		scorer, err := r.with.Device.NewScorer(m.Graph, m.Relations, m.Configuration, m.Parameters)
		if err == nil {
			r.current = newDeviceRanker(m.Graph.Entities, m.Graph.RelationCount(), r.list, scorer, r.with.Device.Devices())
			return nil
		}
		if !r.fallBack(err) {
			return fmt.Errorf("preparing to score: %w", err)
		}
	}
	scorer, err := inference.New(m.Graph, m.Relations, m.Configuration, m.Parameters, r.with.Kernel)
	if err != nil {
		return err
	}
	pool := NewPool(m.Graph.Entities, m.Graph.RelationCount(), r.with.Threads, scorer.Group, func() Worker { return scorer.Worker() })
	r.current = &cpuRanker{pool, r.list}
	return nil
}

func (r *ranker) onDevice() bool { return r.with.Device != nil && r.with.Device.Devices() > 0 }

// fallBack reports whether the processor takes over after an error, and announces that.
func (r *ranker) fallBack(err error) bool {
	if !r.with.Device.FallBack(err) {
		return false
	}
	if r.with.Announce != nil {
		r.with.Announce(r.with.Device.String())
	}
	return true
}

func (r *ranker) Rank(ctx context.Context, b *Bundle, done func(rows int)) (*Scored, error) {
	r.busy.Lock()
	defer r.busy.Unlock()
	if !r.onDevice() {
		return r.current.Rank(ctx, b, done)
	}
	if done == nil {
		done = func(int) {}
	}
	onDevice := 0 // rows that are done; the processor repeats them
	scored, err := r.current.Rank(ctx, b, func(rows int) {
		onDevice += rows
		done(rows)
	})
	if !errors.Is(err, device.ErrMemory) || !r.fallBack(err) {
		r.with.Device.Discard(err)
		return scored, err
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	var counting sync.Mutex
	return r.current.Rank(ctx, b, func(rows int) {
		counting.Lock()
		repeated := min(onDevice, rows)
		onDevice -= repeated
		counting.Unlock()
		if rows > repeated {
			done(rows - repeated)
		}
	})
}

func (r *ranker) Close() error {
	r.busy.Lock()
	defer r.busy.Unlock()
	return r.close()
}

func (r *ranker) close() error {
	if r.current == nil {
		return nil
	}
	return r.current.Close()
}
