package gpu

import (
	"errors"
	"testing"

	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu/cuda"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/steps"
	"tagnet/model/weights/parameters"
)

func TestGoldenCasesOnTheInterpreter(t *testing.T) {
	t.Parallel()
	computed := 0
	for _, c := range golden.Cases(t) {
		if Supports(c.Configuration) == nil {
			computed++
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			checkGolden(t, interpreter.New(interpreter.Seed(1)), c)
		})
	}
	if computed < 4 {
		t.Errorf("a device computes %d golden cases, want 4 or more", computed)
	}
}

func TestGoldenCasesOnAGPU(t *testing.T) {
	d, err := cuda.Open(0)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	t.Log(d.Properties().Name)
	for _, c := range golden.Cases(t) {
		t.Run(c.Name, func(t *testing.T) { checkGolden(t, d, c) })
	}
}

// checkGolden compares a case with what a device computes, or checks that devices refuse it.
func checkGolden(t *testing.T, d device.Device, c *golden.Case) {
	t.Helper()
	if err := Supports(c.Configuration); err != nil {
		checkRefusal(t, d, c, err)
		return
	}
	checkTraining(t, d, c)
	checkScoring(t, d, c)
}

// checkRefusal checks that neither a trainer nor a scorer is made for a case.
func checkRefusal(t *testing.T, d device.Device, c *golden.Case, want error) {
	t.Helper()
	_, training := NewTrainer(d, c.Graph, nil, c.Configuration, c.Parameters32(), goldenSolver(c))
	_, scoring := NewScorer(d, c.Graph, nil, c.Configuration, c.Parameters32())
	for _, err := range []error{training, scoring} {
		if err == nil || err.Error() != want.Error() {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}

func goldenSolver(c *golden.Case) *steps.Adam {
	return steps.NewAdam(parameters.Layout(c.Configuration, c.Graph.RelationCount()), .1, 0, kernel.Available()[0])
}

// checkTraining compares the loss, the messages and the gradients of a step with all queries of a case.
func checkTraining(t *testing.T, d device.Device, c *golden.Case) {
	t.Helper()
	settings := c.Configuration
	settings.BatchSize, settings.Negatives = len(c.Queries), len(c.Queries[0].Negatives)
	trainer, err := NewTrainer(d, c.Graph, nil, settings, c.Parameters32(), goldenSolver(c))
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	var examples []steps.Example
	for _, q := range c.Queries {
		examples = append(examples, steps.Example{Query: q.Query, Negatives: q.Negatives})
	}
	result, err := trainer.Step(examples, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := golden.Compare("loss", []float64{result.Loss}, []float64{c.BatchLoss}, golden.Tolerance32); err != nil {
		t.Error(err)
	}
	gradients, err := trainer.Gradients()
	if err != nil {
		t.Fatal(err)
	}
	if err := golden.CompareSets(gradients, c.Gradients, golden.Tolerance32); err != nil {
		t.Error(err)
	}
}

// checkScoring compares the scores and distances of all entities of each query of a case, and the
// messages of all queries.
func checkScoring(t *testing.T, d device.Device, c *golden.Case) {
	t.Helper()
	scorer, err := NewScorer(d, c.Graph, nil, c.Configuration, c.Parameters32())
	if err != nil {
		t.Fatal(err)
	}
	var requests []answer.Request
	messages := int64(0)
	for _, q := range c.Queries {
		all := rankingAll(q.Source, q.Relation, c.Graph)
		all.Query = q.Query
		requests = append(requests, all)
		for _, layer := range q.Layers {
			messages += layer.Kept
			if c.Configuration.Windowed() { // full sends empty ones, too
				messages -= layer.KeptEmpty
			}
		}
	}
	scored, err := scorer.Score(t.Context(), requests, ranking.Selection{})
	if err := errors.Join(err, scorer.Close()); err != nil {
		t.Fatal(err)
	}
	for i, q := range c.Queries {
		got := scored.Queries[i]
		if err := golden.Compare("scores", scores(got), q.Score, golden.Tolerance32); err != nil {
			t.Errorf("query %d: %v", i, err)
		}
		for v, want := range q.Distances {
			if got.Results[v].Distance != distance(int32(want)) {
				t.Errorf("query %d: entity %d has distance %d, want %d", i, v, got.Results[v].Distance, want)
			}
		}
		if rank := got.Results[q.Answer].Rank.Pessimistic; rank != q.RawRankPessimistic {
			t.Errorf("query %d: the answer has rank %d, want %d", i, rank, q.RawRankPessimistic)
		}
	}
	if scored.Messages != messages {
		t.Errorf("%d messages, want %d", scored.Messages, messages)
	}
}
