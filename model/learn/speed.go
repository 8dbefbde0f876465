package learn

import (
	"context"
	"time"

	"tagnet/model/answer"
)

// Speed is how long the parts of a training take on this machine, in seconds, with the run's threads or device.
type Speed struct {
	Query  float64 // a training query
	Ranked float64 // an answer that is ranked in a validation
}

// Measure trains and ranks some queries in memory for about the given time. Nothing that a training computes depends on
// it, and it writes neither checkpoints nor a history. The first step, which reserves memory, is not counted, and one
// more is always made.
func Measure(ctx context.Context, run Run, data Data, span time.Duration) (Speed, error) {
	l := newLearner(run.inMemory(), data, nil)
	speed, err := l.measure(ctx, span)
	return speed, l.close(err)
}

// measure implements Measure: steps take two thirds of the time, ranks the rest.
func (l *learner) measure(ctx context.Context, span time.Duration) (Speed, error) {
	var s Speed
	if err := l.initialize(); err != nil {
		return s, err
	}
	noNext := l.steps // no device prepares a next step
	if err := l.trainBatch(0, noNext); err != nil {
		return s, err
	}
	trained, began := l.partial.Queries, time.Now()
	for step := 1; step == 1 || time.Since(began) < span*2/3; step++ {
		if err := ctx.Err(); err != nil {
			return s, context.Cause(ctx)
		}
		if err := l.trainBatch(step%l.steps, noNext); err != nil {
			return s, err
		}
	}
	s.Query = time.Since(began).Seconds() / float64(l.partial.Queries-trained)
	if len(l.validationGraphs) == 0 {
		return s, nil
	}
	// Ranks of more and more queries: with few, threads wait for each other.
	validation := l.validationGraphs[0]
	model := answer.Model{
		Graph: validation.Graph, Configuration: l.Configuration, Parameters: l.parameters, Relations: validation.Relations,
		Resources: answer.Resources{Kernel: l.kernel, Threads: l.Threads, Device: &l.device},
	}
	defer model.Close()
	if err := l.closeTrainers(); err != nil { // stores the weights that are ranked with, and frees the trainers' memory
		return s, err
	}
	ranked := 0
	began = time.Now()
	for batch := 8 * l.Threads; ranked < len(validation.Queries) && (ranked == 0 || time.Since(began) < span/3); batch *= 2 {
		queries := validation.Queries[ranked:min(ranked+batch, len(validation.Queries))]
		if ranked == 0 { // makes the threads' buffers
			if _, err := model.Answer(ctx, queries[:1], answer.Kept{}); err != nil {
				return s, err
			}
			began = time.Now()
		}
		if _, err := model.Answer(ctx, queries, answer.Kept{}); err != nil {
			return s, err
		}
		ranked += len(queries)
		s.Ranked = time.Since(began).Seconds() / float64(answer.Rows(validation.Queries[:ranked]))
	}
	return s, nil
}
