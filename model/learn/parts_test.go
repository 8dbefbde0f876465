package learn

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/model/answer/workload"
	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/model/learn/learntest"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
)

// hubs returns a graph of which parts leave out entities, the training on it without the validation queries, and these.
func hubs(t *testing.T) (*kg.KG, Data) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 9))
	draw := func(n int) (list []kg.Triple) {
		for range n {
			tail := rng.IntN(120)
			if rng.IntN(4) == 0 {
				tail = rng.IntN(2)
			}
			list = append(list, kg.Triple{Head: fmt.Sprint("e", rng.IntN(120)), Relation: fmt.Sprint("r", rng.IntN(3)), Tail: fmt.Sprint("e", tail)})
		}
		return list
	}
	k, err := kg.New(draw(250), draw(20), nil)
	if err != nil {
		t.Fatal(err)
	}
	k.Manifest.Checksum = "hubs"
	data, err := NewData(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	valid, err := workload.List(t.Context(), k, workload.Params{QueriedGraph: workload.QueriedGraph{Split: "valid"}})
	if err != nil {
		t.Fatal(err)
	}
	data.Valid = valid
	return k, data
}

// open writes and opens parts of a graph.
func open(t *testing.T, k *kg.KG, split string, run Run, drawn *parts.Drawn) *parts.Folder {
	t.Helper()
	folder, c := strings.TrimSuffix(run.Checkpoints, "checkpoints")+split, run.Configuration
	if err := learntest.WriteParts(t.Context(), folder, k, split, c, drawn, 3); err != nil {
		t.Fatal(err)
	}
	f, err := parts.Open(t.Context(), folder, parts.Requirements{Split: split, Reach: c.Reach, Layers: c.Layers, Remove: c.Remove, Graph: "hubs"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestTrainingFromParts compares the checkpoints of a training that holds no edge, fact or answer with
// those of one that does.
func TestTrainingFromParts(t *testing.T) {
	t.Parallel()
	k, data := hubs(t)
	for name, change := range map[string]func(r *Run){
		"window":         func(*Run) {},
		"one hop":        func(r *Run) { r.Configuration.Remove = configuration.RemoveOneHop },
		"nothing leaves": func(r *Run) { r.Configuration.Remove = configuration.RemoveNone },
		"full sum":       func(r *Run) { r.Configuration.Policy, r.Configuration.Aggregate = configuration.PolicyFull, "sum" },
		"full mean":      func(r *Run) { r.Configuration.Policy, r.Configuration.Aggregate = configuration.PolicyFull, "mean" },
		"max": func(r *Run) {
			r.Configuration.Aggregate, r.Configuration.Message = "max", "transe"
		},
		"dependent": func(r *Run) { r.Configuration.Relations = configuration.RelationsLinear },
		"grouped": func(r *Run) {
			r.Configuration.Batching, r.Configuration.QueriesPerEpoch = configuration.BatchingGrouped, 100
		},
		"relation":       func(r *Run) { r.Configuration.Batching = configuration.BatchingRelation },
		"near negatives": func(r *Run) { r.Configuration.ReachNegatives = .5 },
		"any negatives":  func(r *Run) { r.Configuration.StrictNegatives = false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := toyRun(inMemory(t, "whole"))
			whole.Configuration.Reach, whole.Configuration.Epochs, whole.Configuration.BatchSize = 15, 2, 64
			change(&whole)
			if err := whole.Configuration.Validate(); err != nil {
				t.Fatal(err)
			}
			if _, err := Train(t.Context(), whole, data, nil); err != nil {
				t.Fatal(err)
			}
			read := whole
			folder := inMemory(t, "parts")
			read.Checkpoints, read.History = folder+"/checkpoints", folder+"/training.jsonl"
			c := whole.Configuration
			var drawn *parts.Drawn
			if c.QueriesPerEpoch > 0 {
				drawn = &parts.Drawn{Batching: c.Batching, BatchSize: c.BatchSize, QueriesPerEpoch: c.QueriesPerEpoch, Epochs: c.Epochs, Seed: whole.Seed}
			}
			if _, err := Train(t.Context(), read, outlined(t, k, data, read, drawn), nil); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, contents(t, whole.Checkpoints), contents(t, read.Checkpoints))
		})
	}
}

// outlined returns data whose queries are read from parts.
func outlined(t *testing.T, k *kg.KG, data Data, run Run, drawn *parts.Drawn) Data {
	t.Helper()
	train, valid := open(t, k, parts.Train, run, drawn), open(t, k, "valid", run, nil)
	d := Data{
		TrainingGraph: TrainingGraph{Graph: train.Header.Outline(), BaseRelations: k.Relations,
			Train: steps.NewPartsSet(train, data.Train.Keys(run.Configuration))},
		Vocabulary: data.Vocabulary, ValidOn: &kg.View{Graph: valid.Header.Outline()},
	}
	queries, err := k.Queries(t.Context(), "valid")
	if err != nil {
		t.Fatal(err)
	}
	folder := strings.TrimSuffix(run.Checkpoints, "checkpoints")
	if err := kg.WriteQueries(t.Context(), storage.Join(folder, kg.QueriesFile("valid")), queries); err != nil {
		t.Fatal(err)
	}
	if d.ValidParts, err = workload.ReadParts(t.Context(), folder, valid, 0); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRoundsFromParts compares the checkpoints of two workers.
func TestRoundsFromParts(t *testing.T) {
	t.Parallel()
	k, data := hubs(t)
	whole, read := roundsRun(inMemory(t, "whole"), 2, 2), roundsRun(inMemory(t, "parts"), 2, 2)
	whole.Configuration.Reach, read.Configuration.Reach = 15, 15
	trainRounds(t, whole, data, nil)
	trainRounds(t, read, outlined(t, k, data, read, nil), nil)
	sameFiles(t, contents(t, whole.Checkpoints), contents(t, read.Checkpoints))
}
