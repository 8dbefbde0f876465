package verification

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"tagnet/model/device"
	"tagnet/model/device/interpreter"
	"tagnet/model/gpu"
	"tagnet/model/internal/golden"
	"tagnet/model/kernel"
	"tagnet/model/optimizer"
	"tagnet/model/parallel"
	"tagnet/model/parameters"
)

// Result is what was found about a case.
type Result struct {
	Case string
	// Skipped is the reason why devices do not compute the case, or nil.
	Skipped error
	// Golden, Repeated and Interpreted are the differences from the golden numbers, from a second run and from the interpreter; nil
	// where there are none.
	Golden, Repeated, Interpreted error
}

// Err returns all differences.
func (r Result) Err() error { return errors.Join(r.Golden, r.Repeated, r.Interpreted) }

// Run computes every golden case on a device and calls report with each result. The error is that of a device that failed.
func Run(d device.Device, report func(Result)) error {
	cases, err := golden.Repository()
	if err != nil {
		return err
	}
	results := make([]Result, len(cases))
	computed := make([]outcome, len(cases))
	for i, c := range cases {
		results[i] = Result{Case: c.Name, Skipped: gpu.Supports(c.Configuration)}
		if results[i].Skipped != nil {
			continue
		}
		if computed[i], err = compute(d, c); err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		again, err := compute(d, c)
		if err != nil {
			return fmt.Errorf("case %s, second run: %w", c.Name, err)
		}
		results[i].Golden, results[i].Repeated = computed[i].compareGolden(c), computed[i].compareBits(again)
	}
	failures := make([]error, len(cases))
	parallel.Workers(min(runtime.GOMAXPROCS(0), len(cases)), len(cases), func(_, i int) {
		if results[i].Skipped != nil {
			return
		}
		var want outcome
		if want, failures[i] = compute(interpreter.New(interpreter.Seed(1)), cases[i]); failures[i] == nil {
			results[i].Interpreted = computed[i].compareBits(want)
		}
	})
	for i, r := range results {
		if failures[i] != nil {
			return fmt.Errorf("case %s on the interpreter: %w", r.Case, failures[i])
		}
		report(r)
	}
	return nil
}

// outcome is what a step of training and the scores before it gave.
type outcome struct {
	loss               float64
	messages           int64
	gradients, weights *parameters.Set[float32]
	scores             [][]float32 // by query and entity
}

// compute scores the queries of a case, and makes a step of training with them.
func compute(d device.Device, c *golden.Case) (outcome, error) {
	settings := c.Configuration
	settings.BatchSize, settings.Negatives = len(c.Queries), len(c.Queries[0].Negatives)
	out := outcome{weights: c.Parameters32()}
	var err error
	if out.scores, err = scores(d, c, out.weights); err != nil {
		return outcome{}, err
	}
	solver := optimizer.NewAdam(parameters.Layout(settings, c.Graph.RelationCount()), settings.LearningRate, settings.WeightDecay, kernel.Available()[0])
	trainer, err := gpu.NewTrainer(d, c.Graph, nil, settings, out.weights, solver)
	if err != nil {
		return outcome{}, err
	}
	err = out.step(trainer, c)
	return out, errors.Join(err, trainer.Close())
}

func (o *outcome) step(trainer *gpu.Trainer, c *golden.Case) error {
	var examples []optimizer.Example
	for _, q := range c.Queries {
		examples = append(examples, optimizer.Example{Source: q.Source, Relation: q.Relation, Answer: q.Answer, Negatives: q.Negatives})
	}
	result, err := trainer.Step(examples, 1)
	if err != nil {
		return err
	}
	o.loss, o.messages = result.Loss, result.Messages
	if o.gradients, err = trainer.Gradients(); err != nil {
		return err
	}
	return trainer.Store()
}

// scores returns the scores of all entities for the queries of a case.
func scores(d device.Device, c *golden.Case, p *parameters.Set[float32]) ([][]float32, error) {
	scorer, err := gpu.NewScorer(d, c.Graph, nil, c.Configuration, p)
	if err != nil {
		return nil, err
	}
	var queries []gpu.Query
	for _, q := range c.Queries {
		queries = append(queries, gpu.Query{Source: q.Source, Relation: q.Relation, Answers: []int32{q.Answer}})
	}
	answered, err := scorer.Score(context.Background(), queries, c.Graph.Entities)
	if err := errors.Join(err, scorer.Close()); err != nil {
		return nil, err
	}
	all := make([][]float32, len(answered))
	for i, a := range answered {
		all[i] = make([]float32, c.Graph.Entities)
		for _, candidate := range a.Best {
			all[i][candidate.Entity] = candidate.Score
		}
	}
	return all, nil
}

// compareGolden returns the differences from the golden numbers. Scores have none there: those of the cases are of graphs without the
// query's own fact.
func (o outcome) compareGolden(c *golden.Case) error {
	return errors.Join(
		golden.Compare("loss", []float64{o.loss}, []float64{c.BatchLoss}, golden.Tolerance32),
		golden.CompareSets(o.gradients, c.Gradients, golden.Tolerance32))
}

// compareBits returns the differences from another outcome.
func (o outcome) compareBits(want outcome) error {
	var differences []error
	if o.loss != want.loss || o.messages != want.messages {
		differences = append(differences, fmt.Errorf("loss %.17g and %d messages, want %.17g and %d", o.loss, o.messages, want.loss, want.messages))
	}
	for i := range o.gradients.Tensors {
		g, w := o.gradients.Tensors[i], want.gradients.Tensors[i]
		differences = append(differences, equal("gradient of "+g.Name, g.Data, w.Data))
		g, w = o.weights.Tensors[i], want.weights.Tensors[i]
		differences = append(differences, equal("weights "+g.Name, g.Data, w.Data))
	}
	for i := range o.scores {
		differences = append(differences, equal(fmt.Sprintf("scores of query %d", i+1), o.scores[i], want.scores[i]))
	}
	return errors.Join(differences...)
}

// equal returns an error that names the first of the values with other bits.
func equal(name string, got, want []float32) error {
	differing, first := 0, 0
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			if differing == 0 {
				first = i
			}
			differing++
		}
	}
	if differing == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d of %d values have other bits; the first, at %d, is %.9g, want %.9g", name, differing, len(want), first, got[first], want[first])
}
