package steps

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/model/weightstest"
)

// TestStepAgreesWithReference compares a batch's loss and gradient with the specification's, for random configurations
// and each kernel, on a larger graph than the golden ones, with drawn negatives, and after some steps: of queries of
// one answer, and of several.
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
	left := 0 // answers out of reach
	kernels, several := kernel.Available(), joinAnswers(examples)[:6]
	for i := range 40 {
		c := draws.Draw(rng)
		draws.Take(c)
		t.Run(fmt.Sprint(c.Policy, c.DeltaMode, c.Delta, c.Message, c.Aggregate), func(t *testing.T) {
			trainer := newTrainerWith(t, g, c, 2, kernels[i%len(kernels)])
			train(t, trainer, examples)
			left += compareStep(t, trainer, examples[50:60])
			left += compareStep(t, trainer, several)
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

// joinAnswers makes one example of the examples of each source and relation that several facts answer.
func joinAnswers(examples []Example) []Example {
	var several []Example
	at := map[[2]int32]int{}
	for _, e := range examples {
		query := [2]int32{e.Source, e.Relation}
		if i, seen := at[query]; seen {
			one := &several[i]
			others := graph.Others(append(slices.Clone(one.OtherAnswers()), e.Answer))
			one.Others, one.OtherKeys = &others, append(one.OtherKeys, e.Key)
			continue
		}
		at[query] = len(several)
		several = append(several, e)
	}
	for _, e := range several {
		slices.Sort(e.OtherAnswers())
	}
	return slices.DeleteFunc(several, func(e Example) bool { return e.Others == nil })
}

// compareStep compares the loss and the gradient of a batch with the specification's: the mean over all answers, of
// each with its negatives, in the graph that lacks the edges to all answers of its query. It returns the number of
// answers that are left out.
func compareStep(t *testing.T, trainer *Trainer, batch []Example) (left int) {
	t.Helper()
	g, c := trainer.graph, trainer.configuration
	result, err := trainer.differentiate(batch, 5)
	if err != nil {
		t.Fatal(err)
	}
	m, err := spec.New(g, c, golden.Widened(trainer.parameters))
	if err != nil {
		t.Fatal(err)
	}
	want, gradients := 0.0, parameters.NewSet[float64](parameters.Layout(c, g.RelationCount()))
	answers := 0
	for _, e := range batch {
		answers += e.Answers()
	}
	for _, e := range batch {
		e.Removal = configuration.Removal(c.Remove)
		q := spec.Query{Query: e.Query, Training: true}
		q.Inside = spec.Inside(g, c, q.Query)
		pass, sum := m.Forward(q), make([]float64, g.Entities)
		for i := range e.Answers() {
			one := e.alone(i)
			negatives, drawn := referenceNegatives(t, trainer, one, q.Inside)
			if !drawn {
				left++
				continue
			}
			loss, gradient := spec.Loss(c, pass.Scores, one.Answer, negatives)
			want += loss / float64(answers)
			for o := range gradient {
				sum[o] += gradient[o] / float64(answers)
			}
		}
		pass.Backward(sum, gradients)
	}
	if err := golden.Compare("loss", []float64{result.Loss}, []float64{want}, golden.Tolerance32); err != nil {
		t.Error(err)
	}
	if err := golden.CompareSets(trainer.gradients, gradients, golden.Tolerance32); err != nil {
		t.Error(err)
	}
	return left
}

// referenceNegatives draws the negatives of an example of one answer, or returns false if a step leaves it out.
func referenceNegatives(t *testing.T, trainer *Trainer, e Example, inside []bool) (negatives []int32, drawn bool) {
	t.Helper()
	c, sampler := trainer.configuration, trainer.workers[0].sampler
	if c.ReachNegatives > 0 && !inside[e.Answer] {
		return nil, false
	}
	negatives = make([]int32, c.Negatives)
	err := sampler.Draw(5, e.Key, e.Answer, e.Known, negatives)
	if c.ReachNegatives > 0 && err == nil {
		among := []int32{}
		for o, is := range inside {
			if is {
				among = append(among, int32(o))
			}
		}
		err = sampler.DrawAmong(among, 5, e.Key, e.Answer, e.Known, negatives[:4]) // of 9
	}
	if err != nil {
		t.Fatal(err)
	}
	return negatives, true
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
