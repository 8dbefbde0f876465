package main

import (
	"context"
	"time"

	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/accelerator"
	"tagnet/model/graph"
	"tagnet/model/learn/optimizer"
)

// measureOn times a device: steps of training, or scoring of all entities with the best ten.
func (b *bench) measureOn(ctx context.Context, a accelerator.Accelerator) (result, error) {
	if b.train {
		return b.measureSteps(ctx, a)
	}
	return b.measureScoring(ctx, a)
}

// measureSteps times steps of the default batch size, after one that is not timed.
func (b *bench) measureSteps(ctx context.Context, a accelerator.Accelerator) (r result, err error) {
	examples, err := b.drawExamples(ctx)
	if err != nil {
		return r, err
	}
	c := b.configuration
	solver := optimizer.NewSolver(c, b.graph.RelationCount(), b.kernel)
	trainer, err := a.NewTrainer(b.graph, nil, c, b.parameters, solver)
	if err != nil {
		return r, err
	}
	defer func() { err = firstError(err, trainer.Close()) }()
	return b.inBatches(ctx, a, c.BatchSize, func(from, to int) (messages int64, err error) {
		step, err := trainer.Step(examples[from:to], b.seed)
		return step.Messages, err
	})
}

// measureScoring times the scoring of many queries at a time, after as many that are not timed.
func (b *bench) measureScoring(ctx context.Context, a accelerator.Accelerator) (r result, err error) {
	drawn, _ := b.drawQueries()
	var queries []answer.Request
	for _, q := range drawn {
		for _, relation := range q.relations {
			queries = append(queries, answer.Request{Query: graph.Query{Source: q.Source, Relation: relation, Answer: graph.None}, Rows: []int64{0}, Answers: []int32{q.Source}})
		}
	}
	m := answer.Model{Graph: b.graph, Configuration: b.configuration, Parameters: b.parameters, On: answer.Means{Device: &b.selected}}
	defer func() { err = firstError(err, m.Close()) }()
	const together, best = 512, 10
	return b.inBatches(ctx, a, together, func(from, to int) (messages int64, err error) {
		scored, err := m.Answer(ctx, queries[from:to], answer.Want{Selection: ranking.Selection{K: best}})
		if err != nil {
			return 0, err
		}
		return scored.Messages, nil
	})
}

// inBatches times do over the queries, so many at a time.
func (b *bench) inBatches(ctx context.Context, a accelerator.Accelerator, size int, do func(from, to int) (messages int64, err error)) (result, error) {
	if _, err := do(0, min(size, b.queries)); err != nil {
		return result{}, err
	}
	r := result{Queries: b.queries, Kernel: a.Name()}
	begin := time.Now()
	for from := 0; from < b.queries; from += size {
		if ctx.Err() != nil {
			return result{}, context.Cause(ctx)
		}
		messages, err := do(from, min(from+size, b.queries))
		if err != nil {
			return result{}, err
		}
		r.Messages += float64(messages) / float64(b.queries)
	}
	r.TotalMS = float64(time.Since(begin)) / float64(time.Millisecond) / float64(b.queries)
	return r, nil
}

func firstError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
