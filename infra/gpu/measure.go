package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tagnet/model/device"
	"tagnet/model/gpu"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
	"tagnet/stages/graph"
)

// timing holds mean times and counts of a training step or of a scored query.
type timing struct {
	// Microseconds is the time that passes, Device that of the kernels, and Host the rest: what the device waits for. Ahead is the time that
	// passes where steps are announced, and prepared while the device computes those before.
	Microseconds float64 `json:"microseconds"`
	Ahead        float64 `json:"ahead_microseconds,omitempty"`
	Device       float64 `json:"device_microseconds"`
	Host         float64 `json:"host_microseconds"`
	// Preparing is the time for examples, part of Host.
	Preparing float64 `json:"preparing_microseconds,omitempty"`
	Launches  float64 `json:"launches"`
	// Messages are sent by query, Rows updated, summed over layers.
	Messages float64 `json:"messages"`
	Rows     float64 `json:"rows"`
	// EpochSeconds is the estimate for an epoch without validation.
	EpochSeconds float64 `json:"epoch_seconds,omitempty"`
	Phases       []phase `json:"phases"`
}

// Steps and queries that are measured, besides --steps, which also bounds the first two.
const (
	warming         = 10
	profiledSteps   = 20
	scoredQueries   = 2048
	profiledQueries = 512
	together        = 64 // queries that a scorer computes together
)

// measure times steps of training and scoring.
func (k *kit) measure(ctx context.Context) error {
	weights, solver := k.fresh()
	trainer, err := gpu.NewTrainer(k.device, k.data.Graph, nil, k.configuration, weights, solver)
	if err != nil {
		return err
	}
	t, err := k.measureTraining(ctx, trainer)
	if err == nil {
		err = trainer.Store()
	}
	if err := errors.Join(err, trainer.Close()); err != nil {
		return err
	}
	k.measured.Training = t
	k.printTiming("a training step", t)
	k.print("a training step that is prepared ahead, as in training: %.1f us; an epoch of %d steps: %.1fs by this", t.Ahead, k.stepsOfEpoch(), t.EpochSeconds)
	scorer, err := gpu.NewScorer(k.device, k.data.Graph, nil, k.configuration, weights)
	if err != nil {
		return err
	}
	s, err := k.measureScoring(ctx, scorer)
	if err := errors.Join(err, scorer.Close()); err != nil {
		return err
	}
	k.measured.Scoring = s
	k.printTiming("a scored query", s)
	return nil
}

// fresh returns the weights and the solver at the beginning of a training.
func (k *kit) fresh() (*parameters.Set[float32], *optimizer.Adam) {
	c, relations := k.configuration, k.data.Graph.RelationCount()
	return parameters.Initialize(parameters.Layout(c, relations), optimizer.WeightsSeed(uint64(k.seed))), optimizer.NewSolver(c, relations, kernel.Available()[0])
}

func (k *kit) stepsOfEpoch() int {
	return (len(k.data.Train.Facts) + k.configuration.BatchSize - 1) / k.configuration.BatchSize
}

// steps makes steps of a trainer.
type steps struct {
	*kit
	trainer   *gpu.Trainer
	batches   [][]optimizer.Draw
	examples  []optimizer.Example
	following []optimizer.Example // of the step that is announced
	next      int
	loss      float64
	preparing time.Duration
	queries   int
	messages  int64
}

// run makes n steps, which it announces with ahead.
func (s *steps) run(ctx context.Context, n int, ahead bool) error {
	s.preparing, s.queries, s.messages, s.loss = 0, 0, 0, 0
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if i > 0 && ahead {
			s.examples, s.following = s.following, s.examples
		} else if s.examples, err = s.read(s.next, s.examples); err != nil {
			return err
		}
		var failed error // of the next step's examples
		if i+1 < n && ahead {
			s.trainer.Announce(func() ([]optimizer.Example, uint64) {
				s.following, failed = s.read(s.next+1, s.following)
				return s.following, s.stepSeed(s.next + 1)
			})
		}
		r, err := s.trainer.Step(s.examples, s.stepSeed(s.next))
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		s.next++
		s.loss += r.Loss
		s.queries += len(s.examples)
		s.messages += r.Messages
	}
	return nil
}

// read returns the examples of a step.
func (s *steps) read(step int, into []optimizer.Example) ([]optimizer.Example, error) {
	begun := time.Now()
	examples, err := s.data.Train.Examples(s.batches[step%len(s.batches)], uint64(s.seed), 1, into)
	s.preparing += time.Since(begun)
	return examples, err
}

func (s *steps) stepSeed(step int) uint64 { return optimizer.StepSeed(uint64(s.seed), 1, step) }

// time makes the first n steps of an epoch from the initial weights, and returns the microseconds of one.
func (s *steps) time(ctx context.Context, n int, ahead bool) (float64, error) {
	if err := s.trainer.Load(); err != nil {
		return 0, err
	}
	s.next = 0
	begun := time.Now()
	err := s.run(ctx, n, ahead)
	return microseconds(time.Since(begun), n), err
}

func (k *kit) measureTraining(ctx context.Context, trainer *gpu.Trainer) (*timing, error) {
	s := &steps{kit: k, trainer: trainer, batches: optimizer.Schedule(k.data.Train.Keys(k.configuration), k.configuration, uint64(k.seed), 1)}
	if err := s.run(ctx, min(warming, k.steps), true); err != nil {
		return nil, err
	}
	alone, err := s.time(ctx, k.steps, false)
	if err != nil {
		return nil, err
	}
	loss := s.loss
	t := &timing{Microseconds: alone, Preparing: microseconds(s.preparing, k.steps), Messages: float64(s.messages) / float64(s.queries)}
	if t.Ahead, err = s.time(ctx, k.steps, true); err != nil {
		return nil, err
	}
	if s.loss != loss {
		return nil, fmt.Errorf("the losses of the same %d steps add up to %v if each is prepared ahead, and to %v if it is not", k.steps, s.loss, loss)
	}
	t.EpochSeconds = t.Ahead * float64(k.stepsOfEpoch()) / 1e6
	trainer.Profile()
	done, profiled := work{costs: costs{}}, min(profiledSteps, k.steps)
	for range profiled {
		if err := s.run(ctx, 1, false); err != nil {
			return nil, err
		}
		w, err := trainer.LastWork()
		if err != nil {
			return nil, err
		}
		done.add(count(k.data.Graph, k.configuration, w, 1+k.configuration.Negatives, true))
	}
	times, err := trainer.Times()
	if err != nil {
		return nil, err
	}
	t.add(times, profiled, done, k.device.Properties())
	return t, nil
}

func (k *kit) measureScoring(ctx context.Context, scorer *gpu.Scorer) (*timing, error) {
	queries, err := k.queries(ctx)
	if err != nil {
		return nil, err
	}
	if len(queries) == 0 {
		return nil, errors.New("there are no validation queries to measure scoring with: use --skip_measure")
	}
	profiled := queries[:min(profiledQueries, len(queries))]
	if _, err := scorer.Score(ctx, profiled, 10); err != nil {
		return nil, err
	}
	begun := time.Now()
	answered, err := scorer.Score(ctx, queries, 10)
	if err != nil {
		return nil, err
	}
	t := &timing{Microseconds: microseconds(time.Since(begun), len(queries))}
	for _, a := range answered {
		t.Messages += float64(a.Messages) / float64(len(answered))
	}
	scorer.Profile()
	done := work{costs: costs{}}
	for chunk := range slices.Chunk(profiled, together) {
		if _, err := scorer.Score(ctx, chunk, 10); err != nil {
			return nil, err
		}
		w, err := scorer.LastWork()
		if err != nil {
			return nil, err
		}
		done.add(count(k.data.Graph, k.configuration, w, k.data.Graph.Entities, false))
	}
	times, err := scorer.Times()
	if err != nil {
		return nil, err
	}
	t.add(times, len(profiled), done, k.device.Properties())
	return t, nil
}

// queries returns validation queries.
func (k *kit) queries(ctx context.Context) ([]gpu.Query, error) {
	loaded, err := graph.Load(ctx, k.graph())
	if err != nil {
		return nil, err
	}
	table, err := loaded.Queries(ctx, "valid")
	if err != nil {
		return nil, err
	}
	facts := kg.Facts(table)
	var queries []gpu.Query
	for _, f := range facts[:min(scoredQueries, len(facts))] {
		queries = append(queries, gpu.Query{Source: f.Head, Relation: f.Relation, Answers: []int32{f.Tail}})
	}
	return queries, nil
}

// work is the work of some steps or queries, added up.
type work struct {
	costs         costs
	queries, rows float64
}

func (w *work) add(n counts) {
	w.costs.add(n.phases())
	w.queries += n.queries
	w.rows += n.rows
}

// add adds the times of kernels, and the work, over a number of steps or queries.
func (t *timing) add(times []gpu.KernelTime, count int, done work, card device.Properties) {
	t.Phases = group(times, count, done.costs.per(float64(count)), card)
	for _, p := range t.Phases {
		t.Device += p.Microseconds
		t.Launches += p.Launches
	}
	t.Host = t.Microseconds - t.Device
	t.Rows = done.rows / done.queries
}

func microseconds(d time.Duration, n int) float64 { return d.Seconds() * 1e6 / float64(n) }

// printTiming prints a table of phases.
func (k *kit) printTiming(what string, t *timing) {
	k.print("%s: %.1f us, kernels %.1f us, host and gaps %.1f us (examples %.1f us), %.1f launches; a query: %.0f messages, %.0f rows",
		what, t.Microseconds, t.Device, t.Host, t.Preparing, t.Launches, t.Messages, t.Rows)
	k.print("%-20s %10s %6s %9s %9s %8s %6s %9s %9s %6s", "phase", "us", "share", "launches", "MB", "GB/s", "peak", "MFLOP", "GFLOP/s", "peak")
	for _, p := range t.Phases {
		k.print("%-20s %10.1f %6s %9.1f %9.2f %8.0f %6s %9.1f %9.0f %6s", p.Phase, p.Microseconds, percent(p.Share), p.Launches,
			p.Bytes/1e6, p.ByteRate/1e9, percent(p.ByteShare), p.Operations/1e6, p.OperationRate/1e9, percent(p.OperationShare))
		for _, n := range p.Kernels {
			k.print("    %-26s %8.1f %14.1f", n.Kernel, n.Microseconds, n.Launches)
		}
	}
}

// percent returns a share as text, or nothing where it is not known.
func percent(share float64) string {
	if share == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}
