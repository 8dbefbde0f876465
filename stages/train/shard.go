package train

import (
	"context"

	"tagnet/model/accelerator"
	"tagnet/model/budget"
	"tagnet/model/learn"
	"tagnet/model/weights/configuration"
	"tagnet/stages/encode"
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

func (f *dealFn) ProcessElement(begun int64, emit func(Shard)) {
	for i := range f.Workers {
		emit(Shard{Index: i, Begun: begun})
	}
}

// shardFn trains shards and writes their checkpoints. It trains the shards of a round at the same time, as far as there
// is a device for each.
type shardFn struct {
	Params Params
	Task   learn.Task

	shards worker.Concurrent[Shard]
}

// ProcessElement begins to train a shard, unless that was done before. FinishBundle emits it.
func (f *shardFn) ProcessElement(ctx context.Context, s Shard, _ func(Shard)) error {
	session := f.Params.session()
	// One shard, unless each has a device: on the CPU a shard uses all threads.
	return f.shards.Go(ctx, f.Params.Together, func(ctx context.Context) (Shard, error) {
		err := f.train(ctx, session, s.Index)
		if err != nil {
			session.setErr(err)
		}
		return s, err
	})
}

func (f *shardFn) FinishBundle(_ context.Context, emit func(Shard)) error {
	return f.shards.Finish(emit)
}

// train trains a shard on a device of its own, or on the CPU.
func (f *shardFn) train(ctx context.Context, session *Session, shard int) error {
	budget.Limit(f.Params.Run.Memory) // until the process ends
	joined, leave := session.join(ctx)
	defer leave()
	p, done, err := f.Params.onOneDevice(joined)
	if err != nil {
		return err
	}
	w, err := cachedWorker(joined, p)
	if err == nil {
		err = w.Train(joined, p.Run, f.Task, shard, func(progress learn.Progress, queries int64, loss float64) {
			trainedQueries.Inc(ctx, queries)
			session.tellShard(progress, queries, loss)
		})
	}
	done(err)
	return err
}

// A process keeps between rounds its learn.Workers, whose buffers take longer to make than a short round, and
// what they train on.
const (
	trainerKind  = "learner"
	trainingKind = "training set"
)

// Forget frees what a process keeps between the rounds of a training, in the memory of devices too, while no shard is
// trained. The devices stay open for what follows.
func Forget() error {
	cards.forget()
	return worker.Discard(func(k worker.Key) bool { return k.Kind == trainerKind || k.Kind == trainingKind })
}

// trainerKey is the key of a learn.Worker. There is one on the CPU, or one on each device.
func (p Params) trainerKey() worker.Key {
	return worker.Key{Kind: trainerKind, URL: p.Graph + " " + p.Run.Device.String()}
}

// cachedWorker returns the worker of this process on a device or on the CPU. Only one shard at a time uses it.
func cachedWorker(ctx context.Context, p Params) (*learn.Worker, error) {
	loaded, err := encode.Open(ctx, p.Graph, p.Bundles != "")
	if err != nil {
		return nil, err
	}
	type version struct {
		graph, kernel, bundles string
		configuration          configuration.Configuration
		seed                   int64
		threads                [2]int
	}
	v := version{loaded.Manifest.Checksum, p.Run.Kernel, p.Bundles, p.Run.Configuration, p.Run.Seed, [2]int{p.Run.Threads, p.Run.MostThreads}}
	return worker.Load(p.trainerKey(), v, func() (*learn.Worker, error) {
		data, err := worker.Load(worker.Key{Kind: trainingKind, URL: p.Graph}, p.trainingVersion(v.graph),
			func() (learn.Data, error) { return p.readTraining(ctx) })
		if err != nil {
			return nil, err
		}
		data.Devices = accelerator.Process
		return learn.NewWorker(p.Run, data)
	})
}

// trainingVersion identifies the training data in the cache, over a graph with a checksum. Bundles hold the queries
// that a configuration and a seed draw.
func (p Params) trainingVersion(graph string) any {
	type version struct {
		graph, bundles string
		transfers      bool // the graph of relations is needed, too
		configuration  configuration.Configuration
		seed           int64
	}
	v := version{graph: graph, bundles: p.Bundles, transfers: p.Run.Configuration.Transfers()}
	if p.Bundles != "" {
		v.configuration, v.seed = p.Run.Configuration, p.Run.Seed
	}
	return v
}
