package train

import (
	"context"
	"sync"

	"tagnet/model/budget"
	"tagnet/model/engine/accelerator"
	"tagnet/model/learn"
	"tagnet/model/weights/configuration"
	"tagnet/stages/preprocess"
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

// shardFn trains shards and writes their checkpoints. It trains the shards of a bundle at the same time, as far as there is a device for each:
// Beam's local runner gives all shards of a round to one bundle, and divides it only where they take long.
type shardFn struct {
	Params Params
	Task   learn.Task

	bundle *bundle
}

// bundle holds the shards of one bundle of Beam while they are trained.
type bundle struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	shards  []Shard

	sync.Mutex
	err error // of the first shard that failed
}

// fail cancels the other shards. They fail too, but not since their device was lost.
func (b *bundle) fail(err error) {
	b.Lock()
	defer b.Unlock()
	if b.err == nil {
		b.err = err
	}
	b.cancel()
}

// ProcessElement begins to train a shard, unless that was done before. FinishBundle emits it.
func (f *shardFn) ProcessElement(ctx context.Context, s Shard, _ func(Shard)) {
	if f.bundle == nil {
		f.bundle = &bundle{}
		f.bundle.ctx, f.bundle.cancel = context.WithCancel(ctx)
	}
	b, session := f.bundle, f.Params.session()
	b.shards = append(b.shards, s)
	b.running.Go(func() {
		if err := f.train(b, session, s.Index); err != nil {
			session.setErr(err)
			b.fail(err)
		}
	})
}

// FinishBundle waits for the shards of the bundle. It returns the error of the first shard that failed.
func (f *shardFn) FinishBundle(_ context.Context, emit func(Shard)) error {
	b := f.bundle
	if b == nil {
		return nil
	}
	f.bundle = nil
	b.running.Wait()
	b.cancel()
	if b.err != nil {
		return b.err
	}
	for _, s := range b.shards {
		emit(s)
	}
	return nil
}

// train trains a shard on a device of its own, or on the CPU.
func (f *shardFn) train(b *bundle, session *Session, shard int) error {
	budget.Limit(f.Params.Run.Memory) // until the process ends
	ctx, leave := session.join(b.ctx)
	defer leave()
	ctx, exit, err := worker.Enter(ctx, f.Params.Together) // one, unless each has a device: on the CPU a shard uses all threads
	if err != nil {
		return err
	}
	defer exit()
	p, done, err := f.Params.onOneDevice(ctx)
	if err != nil {
		return err
	}
	w, err := cachedWorker(ctx, p)
	if err == nil {
		err = w.Train(ctx, p.Run, f.Task, shard, func(progress learn.Progress, queries int64, loss float64) {
			b.Lock()
			trainedQueries.Inc(b.ctx, queries)
			b.Unlock()
			session.tellShard(progress, queries, loss)
		})
	}
	done(err)
	return err
}

// A process keeps between rounds its learn.Workers, whose buffers take longer to make than a short round, and what they train on.
const (
	trainerKind  = "learner"
	trainingKind = "training set"
)

// Forget frees what a process keeps between the rounds of a training, in the memory of devices too, while no shard is trained. The
// devices stay open for what follows.
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
	loaded, err := preprocess.Open(ctx, p.Graph, p.Bundles != "")
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
		data, err := worker.Load(worker.Key{Kind: trainingKind, URL: p.Graph}, p.trainingVersion(v.graph), func() (learn.Data, error) { return p.readTraining(ctx) })
		if err != nil {
			return nil, err
		}
		data.Devices = accelerator.Process
		return learn.NewWorker(p.Run, data)
	})
}

// trainingVersion identifies the training data in the cache, over a graph with a checksum. Bundles hold the queries that a configuration and a seed draw.
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
