package optimizer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/model/weights/weightstest"
)

// TestStepAgreesWithReference compares a batch's loss and gradient with the specification's, for random configurations,
// on a larger graph than the golden ones, with drawn negatives, and after some steps.
func TestStepAgreesWithReference(t *testing.T) {
	g, facts := family(t)
	examples, rng := ask(g, facts), rand.New(rand.NewPCG(1, 2))
	draws := weightstest.Draws{Numbers: func(rng *rand.Rand, c *configuration.Configuration) {
		c.Layers, c.Delta, c.Dim = 2+rng.IntN(2), []int{0, 1, 2, 5}[rng.IntN(4)], 8
		c.BatchSize, c.Negatives, c.AdversarialTemperature = 7, 9, .5*float64(rng.IntN(2))
		c.NodeRatio, c.DegreeRatio = 1, 1 // all may send: no choice depends on how priorities are rounded
		c.RelationLayers, c.Reach, c.ReachNegatives = 0, 0, 0
		if c.Transfers() {
			c.RelationLayers = 1 + rng.IntN(3)
		}
		if rng.IntN(3) == 0 {
			c.Reach, c.ReachNegatives = 8+rng.IntN(13), .4*float64(rng.IntN(2))
		}
	}}
	left := 0 // queries whose answer is out of reach
	for range 40 {
		c := draws.Draw(rng)
		draws.Take(c)
		t.Run(fmt.Sprint(c.Policy, c.DeltaMode, c.Delta, c.Message, c.Aggregate), func(t *testing.T) {
			trainer := newTrainer(t, g, c, 2)
			train(t, trainer, examples)
			batch := examples[50:60]
			result, err := trainer.differentiate(batch, 5)
			if err != nil {
				t.Fatal(err)
			}
			layout := parameters.Layout(c, g.RelationCount())
			m, err := spec.New(g, c, golden.Widened(trainer.parameters))
			if err != nil {
				t.Fatal(err)
			}
			want, gradients := 0.0, parameters.NewSet[float64](layout)
			w := trainer.workers[0]
			for _, e := range batch {
				e.Removal = configuration.Removal(c.Remove)
				q := spec.Query{Query: e.Query, Training: true}
				q.Inside = spec.Inside(g, c, q.Query)
				err := w.sampler.Draw(5, e.Key, e.Answer, e.Known, w.entities[1:])
				if c.ReachNegatives > 0 && !q.Inside[e.Answer] {
					left++
					continue
				}
				if c.ReachNegatives > 0 && err == nil {
					among := []int32{}
					for o, inside := range q.Inside {
						if inside {
							among = append(among, int32(o))
						}
					}
					err = w.sampler.DrawAmong(among, 5, e.Key, e.Answer, e.Known, w.entities[1:5]) // 4 of 9
				}
				if err != nil {
					t.Fatal(err)
				}
				pass := m.Forward(q)
				loss, gradient := spec.Loss(c, pass.Scores, e.Answer, w.entities[1:])
				want += loss / float64(len(batch))
				for o := range gradient {
					gradient[o] /= float64(len(batch))
				}
				pass.Backward(gradient, gradients)
			}
			if err := golden.Compare("loss", []float64{result.Loss}, []float64{want}, golden.Tolerance32); err != nil {
				t.Error(err)
			}
			if err := golden.CompareSets(trainer.gradients, gradients, golden.Tolerance32); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Logf("configuration %s", c)
			}
		})
	}
	draws.Check(t)
	if left == 0 {
		t.Error("no answer was out of reach, want some")
	}
}

// Every variant of the kernels makes the same steps, within rounding.
func TestKernelsMakeTheSameSteps(t *testing.T) {
	g, facts := family(t)
	examples := ask(g, facts)
	c := variants()["specific"]
	var losses [][]float64
	for _, k := range kernel.Available() {
		_, l := train(t, newTrainerWith(t, g, c, 1, k), examples)
		losses = append(losses, l)
	}
	for i, l := range losses {
		if err := golden.Compare(kernel.Available()[i].Name(), l, losses[0], 1e-3); err != nil {
			t.Error(err)
		}
	}
}
