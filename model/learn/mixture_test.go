package learn

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/graph"
	"tagnet/model/graph/synthetic"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// toyMixture is the toy, a smaller ring of two relations, and made graphs, with two graphs to validate on.
func toyMixture(t testing.TB) Data {
	t.Helper()
	var facts []graph.Fact
	const entities = 12
	for i := range int32(entities) {
		facts = append(facts, graph.Fact{Head: i, Relation: 0, Tail: (i + 1) % entities}, graph.Fact{Head: i, Relation: 1, Tail: (i + 3) % entities})
	}
	g, err := graph.New(entities, 2, facts)
	if err != nil {
		t.Fatal(err)
	}
	small := TrainingGraph{Graph: g, Train: trainingSet(g, facts)}
	first := toy(t)
	validationGraphs := []ValidationGraph{first.validationGraph(), {Graph: g, Queries: requestsOf(g, facts[:4], facts)}}
	validationGraphs[0].Name, validationGraphs[1].Name = "toy", "small"
	return Data{Mixture: &Mixture{
		Description: checkpoint.Mixture{
			Graphs:   []checkpoint.Seen{{Name: "toy", Facts: int64(len(first.Train.Facts))}, {Name: "small", Facts: int64(len(facts))}},
			Exponent: .5, Steps: 40,
			Made: &checkpoint.Made{Share: .25, Steps: 3,
				Options: synthetic.Options{Entities: synthetic.Range{Least: 20, Most: 40}, Relations: synthetic.Range{Least: 3, Most: 6},
					Degree: synthetic.Range{Least: 2, Most: 3}}},
			Valid: []checkpoint.Seen{{Name: "toy"}, {Name: "small"}},
		},
		TrainingGraphs: []TrainingGraph{first.TrainingGraph, small}, ValidationGraphs: validationGraphs,
	}}
}

// mixedRun is the run of a model whose relations come from a graph.
func mixedRun(folder string) Run {
	run := toyRun(folder)
	c := &run.Configuration
	c.Relations, c.RelationLayers, c.Aggregate, c.Dropout, c.Batching, c.BatchSize = configuration.RelationsGraph, 2, configuration.AggregateSum, 0,
		configuration.BatchingRelation, 8
	c.Negatives = 4
	return run
}

func TestMixtureTrainsOnAllGraphs(t *testing.T) {
	t.Parallel()
	run := mixedRun(inMemory(t, "run"))
	run.Configuration.Epochs, run.Configuration.LearningRate = 10, 1e-2
	r := train(t, run, toyMixture(t))
	lines, err := metrics.ReadHistory(t.Context(), run.History)
	if err != nil || len(lines) != 10 {
		t.Fatalf("%d lines of history, %v", len(lines), err)
	}
	for _, line := range lines {
		steps := 0
		for i, of := range line.Graphs {
			if of.Steps == 0 || of.Name != []string{"toy", "small", "made"}[i] {
				t.Errorf("epoch %d: %+v is part %d", line.Epoch, of, i)
			}
			steps += of.Steps
		}
		if steps != 40 {
			t.Errorf("epoch %d: %d steps, want 40", line.Epoch, steps)
		}
		mean := (line.Trials[0].Pessimistic.MRR + line.Trials[1].Pessimistic.MRR) / 2
		if line.Trials[0].Name != "toy" || line.Valid.Queries != 20 || !(math.Abs(line.Valid.Pessimistic.MRR-mean) <= 1e-12) {
			t.Errorf("epoch %d: validation %+v of %+v, want their mean", line.Epoch, line.Valid, line.Trials)
		}
	}
	if first, last := lines[0], lines[9]; !(last.Graphs[0].Loss < .9*first.Graphs[0].Loss) || !(last.Valid.Pessimistic.MRR > first.Valid.Pessimistic.MRR) {
		t.Errorf("it does not learn: first %+v, %+v, last %+v, %+v", first.Graphs, first.Valid, last.Graphs, last.Valid)
	}
	if r.Mixture == nil || len(r.Vocabulary.Relations) != 0 {
		t.Errorf("the record has the mixture %+v and the vocabulary %+v", r.Mixture, r.Vocabulary)
	}
}

// Stops after every few steps, also within a made graph, change no byte.
func TestInterruptedMixtureEndsInTheSameBytes(t *testing.T) {
	t.Parallel()
	whole := mixedRun(inMemory(t, "whole"))
	train(t, whole, toyMixture(t))
	run := mixedRun(inMemory(t, "stopped"))
	if stops := interrupted(t, run, toyMixture(t)); stops < 5 {
		t.Fatalf("it was stopped %d times", stops)
	}
	sameFiles(t, contents(t, whole.Checkpoints), contents(t, run.Checkpoints))
	other := mixedRun(whole.Checkpoints[:strings.LastIndex(whole.Checkpoints, "/")])
	data := toyMixture(t)
	data.Mixture.Description.Graphs[0].Checksum = "another"
	if _, err := Train(t.Context(), other, data, nil); err == nil || !strings.Contains(err.Error(), "belongs to a training with another configuration") {
		t.Errorf("a training on another graph resumed: %v", err)
	}
}

func TestThreadsChangeNothingOfAMixture(t *testing.T) {
	t.Parallel()
	var first map[string]string
	for _, threads := range []int{1, 3} {
		run := mixedRun(inMemory(t, fmt.Sprint(threads)))
		run.Threads = threads
		train(t, run, toyMixture(t))
		if files := contents(t, run.Checkpoints); first == nil {
			first = files
		} else {
			sameFiles(t, first, files)
		}
	}
}

// The share of a graph's steps follows from its facts.
func TestTurnsOfAMixture(t *testing.T) {
	t.Parallel()
	m := &Mixture{Description: checkpoint.Mixture{
		Graphs: []checkpoint.Seen{{Facts: 100}, {Facts: 900}}, Exponent: .5, Steps: 1, Made: &checkpoint.Made{Share: .2, Steps: 1},
	}, TrainingGraphs: make([]TrainingGraph, 2)}
	of, counts := newMixed(m, configuration.Default(), 3), make([]float64, 3)
	const steps = 100000
	for step := range int64(steps) {
		counts[of.graphOf(step)] += 1. / steps
	}
	for i, want := range []float64{.2, .6, .2} {
		if !(math.Abs(counts[i]-want) <= .01) {
			t.Errorf("graph %d has %.3f of the steps, want %.1f", i, counts[i], want)
		}
	}
}
