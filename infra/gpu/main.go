package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/device/cuda"
	"tagnet/model/gpu"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
	"tagnet/model/ranking"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx := context.Background()
	d, err := cuda.Open(0)
	if err != nil {
		return err
	}
	fmt.Printf("%+v\n", d.Properties())
	k, err := kg.Load(ctx, os.Args[1])
	if err != nil {
		return err
	}
	c, err := configuration.Preset(os.Args[2])
	if err != nil {
		return err
	}
	set, err := optimizer.NewTrainingSet(ctx, k)
	if err != nil {
		return err
	}
	g := k.Train.Graph
	layout := parameters.Layout(c, g.RelationCount())
	kern := kernel.Available()[len(kernel.Available())-1]
	fresh := func() (*parameters.Set[float32], *optimizer.Adam) {
		return parameters.Initialize(layout, optimizer.WeightsSeed(1)), optimizer.NewAdam(layout, c.LearningRate, c.WeightDecay, kern)
	}
	p, solver := fresh()
	begin := time.Now()
	t, err := gpu.NewTrainer(d, g, c, p, solver)
	if err != nil {
		return err
	}
	fmt.Println("trainer", time.Since(begin))
	p2, solver2 := fresh()
	cpu, err := optimizer.New(g, c, p2, solver2, 16, kern)
	if err != nil {
		return err
	}
	batches := optimizer.Schedule(set.Facts, c, 1, 1)
	var examples []optimizer.Example
	for step := range 10 {
		examples = set.Examples(batches[step], 1, 1, examples)
		seed := optimizer.StepSeed(1, 1, step)
		a, err := t.Step(examples, seed)
		if err != nil {
			return err
		}
		b, err := cpu.Step(examples, seed)
		if err != nil {
			return err
		}
		fmt.Println("step", step, a, b)
	}
	const steps = 200
	begin = time.Now()
	var messages int64
	for step := range steps {
		examples = set.Examples(batches[10+step], 1, 1, examples)
		r, err := t.Step(examples, optimizer.StepSeed(1, 1, 10+step))
		if err != nil {
			return err
		}
		messages += r.Messages
	}
	each := time.Since(begin) / steps
	fmt.Println("a step", each, "an epoch", each*time.Duration(len(batches)), "messages a query", messages/int64(steps*c.BatchSize))
	t.Profile()
	begin = time.Now()
	const profiled = 20
	for step := range profiled {
		examples = set.Examples(batches[300+step], 1, 1, examples)
		if _, err := t.Step(examples, optimizer.StepSeed(1, 1, 300+step)); err != nil {
			return err
		}
	}
	fmt.Println("a step while measured", time.Since(begin)/profiled)
	times, err := t.Times()
	if err != nil {
		return err
	}
	total := 0.0
	for _, m := range times {
		total += m.Milliseconds
		fmt.Printf("%-26s %5.1f launches  %8.1f us a step\n", m.Kernel, float64(m.Launches)/profiled, 1000*m.Milliseconds/profiled)
	}
	fmt.Printf("all %.2f ms a step\n", total/profiled)
	if err := t.Store(); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return scoring(ctx, d, k, c, p, kern)
}

func scoring(ctx context.Context, d device.Device, k *kg.KG, c configuration.Configuration, p *parameters.Set[float32], kern kernel.Kernel) error {
	queries, err := k.Queries(ctx, "valid")
	if err != nil {
		return err
	}
	var questions []gpu.Question
	for _, f := range kg.Facts(queries)[:2048] {
		questions = append(questions, gpu.Question{Source: f.Head, Relation: f.Relation, Answers: []int32{f.Tail}})
	}
	g := k.Train.Graph
	begin := time.Now()
	s, err := gpu.NewScorer(d, g, c, p)
	if err != nil {
		return err
	}
	fmt.Println("scorer", time.Since(begin))
	begin = time.Now()
	out, err := s.Score(questions, 10)
	if err != nil {
		return err
	}
	fmt.Println("a query", time.Since(begin)/time.Duration(len(questions)))
	s.Profile()
	if _, err := s.Score(questions[:512], 10); err != nil {
		return err
	}
	times, err := s.Times()
	if err != nil {
		return err
	}
	for _, m := range times {
		fmt.Printf("%-26s %5d launches  %8.1f us a query\n", m.Kernel, m.Launches, 1000*m.Milliseconds/512)
	}
	scorer, err := inference.New(g, c, p, kern)
	if err != nil {
		return err
	}
	w := scorer.Worker()
	scores := make([]float32, g.Entities)
	for i := range 8 {
		q := questions[i]
		if err := w.Scores(q.Source, []int32{q.Relation}, [][]float32{scores}); err != nil {
			return err
		}
		fmt.Println(out[i].Scores[0], scores[q.Answers[0]], out[i].Ranks[0], ranking.Filtered(scores, q.Answers[0], nil), out[i].Messages, w.Sent(), out[i].Best[:2], ranking.Top(scores, 2, nil))
	}
	return s.Close()
}
