package learn

import (
	"context"

	"tagnet/model/budget"
	"tagnet/model/configuration"
	"tagnet/model/training"
	"tagnet/stages/graph"
	"tagnet/stages/worker"
)

// Shard is one of the shards of a round, each of which one worker trains.
type Shard struct {
	// Index counts the shards of the round, from 0.
	Index int
	// Begun is when the round began, in nanoseconds since 1970.
	Begun int64
}

// dealFn emits the shards of a round. Its input is when the round began.
type dealFn struct{ Workers int }

// ProcessElement emits the shards.
func (f *dealFn) ProcessElement(begun int64, emit func(Shard)) {
	for i := range f.Workers {
		emit(Shard{Index: i, Begun: begun})
	}
}

// shardFn trains a shard and writes its checkpoint.
type shardFn struct {
	Params Params
	Task   training.Task
}

// ProcessElement trains a shard, unless that was done before.
func (f *shardFn) ProcessElement(ctx context.Context, s Shard, emit func(Shard)) error {
	session := f.Params.session()
	err := f.train(ctx, session, s.Index)
	session.setErr(err)
	if err != nil {
		return err
	}
	emit(s)
	return nil
}

func (f *shardFn) train(ctx context.Context, session *Session, shard int) error {
	run := f.Params.Run
	budget.Limit(run.Memory) // until the process ends
	joined, leave := session.join(ctx)
	defer leave()
	joined, exit, err := worker.Enter(joined, 1) // a shard uses all threads
	if err != nil {
		return err
	}
	defer exit()
	w, err := cachedWorker(joined, f.Params)
	if err != nil {
		return err
	}
	return w.Train(joined, run, f.Task, shard, func(p training.Progress, queries int64, loss float64) {
		trainedQueries.Inc(ctx, queries)
		session.tellShard(p, queries, loss)
	})
}

// trainerKind is the kind of the training.Worker that a process keeps between rounds: its buffers and its
// training set take longer to make than a short round.
const trainerKind = "learner"

// Forget frees what a process keeps between the rounds of a training.
func Forget() { worker.Forget(trainerKind) }

// cachedWorker returns the worker of this process. Only one shard at a time uses it.
func cachedWorker(ctx context.Context, p Params) (*training.Worker, error) {
	loaded, err := graph.Load(ctx, p.Graph)
	if err != nil {
		return nil, err
	}
	type version struct {
		graph, kernel string
		configuration configuration.Configuration
		seed          int64
		replicas      [2]int
	}
	v := version{loaded.Manifest.Checksum, p.Run.Kernel, p.Run.Configuration, p.Run.Seed, [2]int{p.Run.Replicas, p.Run.MostReplicas}}
	return worker.Load(worker.Key{Kind: trainerKind, URL: p.Graph}, v, func() (*training.Worker, error) {
		data, err := p.readTraining(ctx)
		if err != nil {
			return nil, err
		}
		return training.NewWorker(p.Run, data)
	})
}
