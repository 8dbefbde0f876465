package gpu

import (
	"errors"
	"testing"

	"tagnet/formats/hop"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/steps"
	"tagnet/model/weights/parameters"
)

// TestZeroGoldenCases compares scores, distances, losses and gradients of models whose relations come from their graph
// with golden cases. The relations' graph keeps the facts that leave the graphs of training queries.
func TestZeroGoldenCases(t *testing.T) {
	t.Parallel()
	for name, z := range golden.ZeroCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scoreZero(t, z)
			trainZero(t, z)
		})
	}
}

// rounded returns the parameters of a case in float32.
func rounded(z *golden.Zero) *parameters.Set[float32] {
	return (&golden.Case{Configuration: z.Configuration, Graph: z.Graph, Parameters: z.Parameters}).Parameters32()
}

func scoreZero(t *testing.T, z *golden.Zero) {
	t.Helper()
	scorer, err := NewScorer(interpreter.New(), z.Graph, nil, z.Configuration, rounded(z))
	if err != nil {
		t.Fatal(err)
	}
	var queries []answer.Request
	for _, q := range z.Queries {
		queries = append(queries, rankingAll(q.Source, q.Relation, z.Graph))
	}
	scored, err := scorer.Score(t.Context(), queries, ranking.Selection{})
	if err := errors.Join(err, scorer.Close()); err != nil {
		t.Fatal(err)
	}
	for i, q := range z.Queries {
		if err := golden.Compare("scores", scores(scored.Queries[i]), q.Score.Data, golden.Tolerance32); err != nil {
			t.Errorf("query %d: %v", i, err)
		}
		for v, want := range q.Distance {
			if got := scored.Queries[i].Results[v].Distance; got != int32(want) && !(want < 0 && got == hop.Column) {
				t.Errorf("query %d: entity %d has distance %d, want %d", i, v, got, want)
			}
		}
	}
}

// trainZero makes a step with all training queries of a case: the loss and the gradients are the means of the queries'.
func trainZero(t *testing.T, z *golden.Zero) {
	t.Helper()
	n := len(z.Training)
	c := z.Configuration
	c.BatchSize = n
	trainer, err := NewTrainer(interpreter.New(), z.Graph, nil, c, rounded(z), goldenSolver(&golden.Case{Configuration: c, Graph: z.Graph}))
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	var examples []steps.Example
	var loss float64
	want := parameters.NewSet[float64](parameters.Layout(c, z.Graph.RelationCount()))
	for _, e := range z.Training {
		examples = append(examples, steps.Example{Query: e.Query, Negatives: e.Negatives})
		loss += e.Loss / float64(n)
		for i, tensor := range e.Gradients.Tensors {
			for j, g := range tensor.Data {
				want.Tensors[i].Data[j] += g / float64(n)
			}
		}
	}
	result, err := trainer.Step(examples, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := trainer.Gradients()
	if err != nil {
		t.Fatal(err)
	}
	if err := golden.Compare("loss", []float64{result.Loss}, []float64{loss}, golden.Tolerance32); err != nil {
		t.Error(err)
	}
	if err := golden.CompareSets(got, want, golden.Tolerance32); err != nil {
		t.Error(err)
	}
}
