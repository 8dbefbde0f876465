package optimizer

import (
	"testing"

	"tagnet/model/engine/relations"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/model/weights/pretrained"

	"github.com/google/go-cmp/cmp"
)

// trainULTRA makes some steps with drawn weights and returns them, and the losses of the steps.
func trainULTRA(t *testing.T, c configuration.Configuration, threads int, batches [][]Example) (*parameters.Set[float32], []float64) {
	t.Helper()
	g, _ := family(t)
	p := parameters.Initialize(pretrained.ULTRALayout(), 3)
	trainer, err := New(g, relations.GraphOf(g), c, p, NewSolver(c, g.RelationCount(), fastest), threads, fastest)
	if err != nil {
		t.Fatal(err)
	}
	var losses []float64
	for _, batch := range batches {
		result, err := trainer.Step(batch, 11)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, result.Loss)
	}
	return p, losses
}

func TestULTRALossFalls(t *testing.T) {
	t.Parallel()
	c := pretrained.ULTRAConfiguration()
	c.Negatives = 8
	g, facts := family(t)
	batch := ask(g, facts)[:8]
	_, losses := trainULTRA(t, c, 2, [][]Example{batch, batch, batch, batch, batch, batch})
	if first, last := losses[0], losses[len(losses)-1]; !(last < .9*first) {
		t.Errorf("losses %v of steps on one batch, want them to fall", losses)
	}
}

func TestULTRAReplicasChangeNoBit(t *testing.T) {
	t.Parallel()
	c := pretrained.ULTRAConfiguration()
	c.Negatives = 8
	g, facts := family(t)
	examples := ask(g, facts)
	batches := [][]Example{examples[:9], examples[9:16], examples[16:18]}
	want, losses := trainULTRA(t, c, 1, batches)
	for _, threads := range []int{2, 5} {
		got, gotLosses := trainULTRA(t, c, threads, batches)
		if diff := cmp.Diff(want.Tensors, got.Tensors); diff != "" {
			t.Errorf("weights of 1 (-) and %d (+) threads:\n%.500s", threads, diff)
		}
		if diff := cmp.Diff(losses, gotLosses); diff != "" {
			t.Errorf("losses of 1 (-) and %d (+) threads:\n%s", threads, diff)
		}
	}
}
