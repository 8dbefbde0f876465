package gpu

import (
	"fmt"
	"testing"

	"tagnet/model/device"
	"tagnet/model/device/cuda"
	"tagnet/model/device/interpreter"
	"tagnet/model/internal/golden"
	"tagnet/model/kernel"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
)

func TestGoldenCasesOnTheInterpreter(t *testing.T) {
	t.Parallel()
	for _, c := range golden.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if err := Supports(c.Configuration); err != nil {
				t.Skip(err)
			}
			checkGolden(t, interpreter.New(interpreter.Seed(1)), c)
		})
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
		t.Run(c.Name, func(t *testing.T) {
			if err := Supports(c.Configuration); err != nil {
				t.Skip(err)
			}
			checkGolden(t, d, c)
		})
	}
}

func checkGolden(t *testing.T, d device.Device, c *golden.Case) {
	t.Helper()
	configuration := c.Configuration
	configuration.BatchSize, configuration.Negatives = len(c.Queries), len(c.Queries[0].Negatives)
	p := c.Parameters32()
	trainer, err := NewTrainer(d, c.Graph, configuration, p, optimizer.NewAdam(parameters.Layout(configuration, c.Graph.RelationCount()), .1, 0, kernel.Available()[0]))
	if err != nil {
		t.Fatal(err)
	}
	var examples []optimizer.Example
	for _, q := range c.Queries {
		examples = append(examples, optimizer.Example{Source: q.Source, Relation: q.Relation, Answer: q.Answer, Negatives: q.Negatives})
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
	fmt.Println(c.Name, result)
}
