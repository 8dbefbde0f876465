package optimizer

import (
	"fmt"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// A batch's loss and gradient are those of the specification, on a larger graph than the
// golden ones, with drawn negatives, and after some steps: for what the golden cases leave out.
func TestStepAgreesWithReference(t *testing.T) {
	g, facts := family(t)
	examples := ask(g, facts)
	for _, change := range []func(c *configuration.Configuration){
		func(c *configuration.Configuration) {},
		func(c *configuration.Configuration) { c.Delta, c.DegreeMessages, c.Bias = 0, true, false },
		func(c *configuration.Configuration) {
			c.Delta, c.Message, c.Dependent = 1, configuration.MessageRotatE, false
		},
		func(c *configuration.Configuration) {
			c.Message, c.Aggregate = configuration.MessageTransE, configuration.AggregateMax
		},
		func(c *configuration.Configuration) {
			c.Delta, c.Remove, c.Aggregate = 5, configuration.RemoveOneHop, configuration.AggregateMean
		},
		func(c *configuration.Configuration) { c.Policy, c.AdversarialTemperature = configuration.PolicyFull, 0 },
		func(c *configuration.Configuration) {
			c.Policy, c.Layers, c.Dependent = configuration.PolicyFull, 2, false
		},
		func(c *configuration.Configuration) {
			c.DeltaMode, c.Attention, c.AttentionTemperature, c.DegreeMessages = configuration.DeltaSpecific, configuration.AttentionShared, .5, true
		},
		func(c *configuration.Configuration) {
			c.DeltaMode, c.Attention, c.Delta, c.Remove = configuration.DeltaSpecific, configuration.AttentionOwn, 1, configuration.RemoveNone
		},
		func(c *configuration.Configuration) {
			c.Relations, c.RelationLayers, c.Remove = configuration.RelationsGraph, 3, configuration.RemoveOneHop
		},
		func(c *configuration.Configuration) { c.Reach = 20 },
		func(c *configuration.Configuration) {
			c.Reach, c.DegreeMessages, c.Remove, c.ShareStates = 12, true, configuration.RemoveOneHop, true
		},
		func(c *configuration.Configuration) { c.Reach, c.Policy = 20, configuration.PolicyFull },
		func(c *configuration.Configuration) { c.Reach, c.ReachNegatives, c.StrictNegatives = 20, .4, true },
		func(c *configuration.Configuration) {
			c.Reach, c.Relations, c.RelationLayers = 20, configuration.RelationsGraph, 2
		},
		// All may send, so that no choice depends on how priorities are rounded.
		func(c *configuration.Configuration) {
			c.Policy, c.NodeRatio, c.DegreeRatio = configuration.PolicyAStar, 1, 1
		},
		func(c *configuration.Configuration) {
			c.Policy, c.NodeRatio, c.DegreeRatio, c.Aggregate = configuration.PolicyWindowWithAStar, 1, 1, configuration.AggregateSum
		},
	} {
		c := variants()["window"]
		c.Dropout, c.StrictNegatives = 0, false
		change(&c)
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
			w, left := trainer.workers[0], 0
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
				loss, gradient := spec.Loss(pass.Scores, e.Answer, w.entities[1:], c.AdversarialTemperature)
				want += loss / float64(len(batch))
				for o := range gradient {
					gradient[o] /= float64(len(batch))
				}
				pass.Backward(gradient, gradients)
			}
			if c.ReachNegatives > 0 && (left == 0 || left == len(batch)) {
				t.Errorf("%d of %d queries are left out, want some", left, len(batch))
			}
			if err := golden.Compare("loss", []float64{result.Loss}, []float64{want}, golden.Tolerance32); err != nil {
				t.Error(err)
			}
			if err := golden.CompareSets(trainer.gradients, gradients, golden.Tolerance32); err != nil {
				t.Error(err)
			}
		})
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
