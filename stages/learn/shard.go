package learn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"tagnet/model/budget"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/optimizer"
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
	Task   Task
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
	training, leave := session.join(ctx)
	defer leave()
	training, exit, err := worker.Enter(training, 1) // a shard uses all threads
	if err != nil {
		return err
	}
	defer exit()
	l, err := cachedLearner(training, f.Params)
	if err != nil {
		return err
	}
	return l.trainShard(run.Lock.Guard(training), f.Task, shard, func(queries int64, loss float64) {
		trainedQueries.Inc(ctx, queries)
		session.tellShard(l.progress(0), queries, loss)
	})
}

// learnerKind is the kind of the learner that a process keeps between rounds: its buffers and its
// training set take longer to make than a short round.
const learnerKind = "learner"

// Forget frees what a process keeps between the rounds of a training.
func Forget() { worker.Forget(learnerKind) }

// cachedLearner returns the learner of this process. Only one shard at a time uses it.
func cachedLearner(ctx context.Context, p Params) (*learner, error) {
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
	l, err := worker.Load(worker.Key{Kind: learnerKind, URL: p.Graph}, v, func() (*learner, error) {
		data, err := p.readTraining(ctx)
		if err != nil {
			return nil, err
		}
		l := newLearner(p.Run, data, nil)
		if err := l.initialize(); err != nil {
			return nil, err
		}
		return l, l.makeTrainer()
	})
	if err != nil {
		return nil, err
	}
	l.Run, l.folder = p.Run, checkpoint.Folder(p.Run.Checkpoints)
	return l, nil
}

// trainShard makes the steps of a shard from the checkpoint of the task, and writes its result. It
// does nothing if the result exists, or the training is farther. When ctx is cancelled it returns the
// cause and writes nothing. It calls trained with the number of queries that were trained since the
// last call, and the sum of their losses.
func (l *learner) trainShard(ctx context.Context, t Task, shard int, trained func(queries int64, loss float64)) error {
	l.epoch = t.Round.Epoch
	own, name := t.result(l.folder, shard)
	result, err := own.State(ctx, name)
	damaged := new(checkpoint.DamagedError)
	switch {
	case err == nil && l.sameRun(result.Record) == nil:
		trained(result.Record.Partial.Queries, result.Record.Partial.Loss)
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &damaged):
		return err
	}
	done, err := l.start(ctx, t)
	if done || err != nil {
		return err
	}
	if err := l.makeSteps(ctx, t.Round.Shard(shard), trained); err != nil {
		return err
	}
	r, err := l.newRecord()
	if err != nil {
		return err
	}
	r.Partial = &l.partial
	weights, state := l.stored()
	if err := own.Save(context.WithoutCancel(ctx), r, weights, state); err != nil {
		return fmt.Errorf("saving the result of a round: %w", err)
	}
	return nil
}

// start restores the checkpoint from which a round starts. It returns true if the training is farther
// than the round.
func (l *learner) start(ctx context.Context, t Task) (done bool, err error) {
	state, err := l.folder.State(ctx, t.From.Checkpoint)
	if missing := errors.Is(err, fs.ErrNotExist); missing || t.From.Batch == 0 { // the checkpoint of an epoch is kept
		done, failed := passed(ctx, l.folder, t)
		if failed != nil || done {
			return done, failed
		}
		if missing {
			return false, fmt.Errorf("reading %s of %s, from which a round starts: %w; every worker must see this folder", t.From.Checkpoint, l.folder, err)
		}
	}
	if err != nil {
		return false, err
	}
	if err := l.sameRun(state.Record); err != nil {
		return false, err
	}
	if err := l.restore(state); err != nil {
		return false, err
	}
	l.epoch = t.Round.Epoch
	return false, nil
}

// makeSteps makes the steps of some batches of the epoch.
func (l *learner) makeSteps(ctx context.Context, indices []int, trained func(queries int64, loss float64)) error {
	l.partial = checkpoint.Partial{}
	l.solver.LearningRate = l.learningRate()
	batches := optimizer.Schedule(l.Train.Facts, l.Configuration, uint64(l.Seed), l.epoch)
	for _, index := range indices {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before := l.partial
		if err := l.trainBatch(batches, index); err != nil {
			return err
		}
		trained(l.partial.Queries-before.Queries, l.partial.Loss-before.Loss)
	}
	return nil
}
