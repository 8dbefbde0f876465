package learn

import (
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
)

// TrainingGraph is a graph that a model is trained on, with its training facts.
type TrainingGraph struct {
	Graph *graph.Graph
	// Entities and BaseRelations are the names in the graph, for errors.
	Entities, BaseRelations []string
	// Relations are the edges between the graph's relations, or nil: the model makes them if it needs them.
	Relations *relations.Graph
	Train     steps.TrainingSet
}

// trainingGraph is a TrainingGraph with its trainer, nil before its first step and during validation.
type trainingGraph struct {
	TrainingGraph
	name    string // "" where there is only one
	trainer steps.Stepper
}

// stepSource gives a training its steps, on one graph or on several in turns.
type stepSource interface {
	// begin prepares an epoch and returns the numbers of its steps and, about, of its queries.
	begin(epoch int) (n int, queries int64)
	// at returns the batch of a step of the epoch, from 0, no earlier one than the call before. It is valid
	// until the next call.
	at(step int) (batch, error)
	// trainingGraphs returns all graphs that may have a trainer.
	trainingGraphs() []*trainingGraph
	// graphs is the number of graphs whose losses are recorded one by one, 0 for a single graph.
	graphs() int
}

// batch is the draws that a step trains on.
type batch struct {
	*trainingGraph
	// graph is the number of the graph, of graphs.
	graph int
	draws []steps.Draw
	// seed and epoch are the draws' seed and epoch.
	seed  uint64
	epoch int
}

func (b batch) examples(into []steps.Example) ([]steps.Example, error) {
	return b.Train.Examples(b.draws, b.seed, b.epoch, into)
}

// single is the stepSource of one graph.
type single struct {
	graph         *trainingGraph
	configuration configuration.Configuration
	seed          uint64
	epoch         int
	batches       [][]steps.Draw
}

func (s *single) begin(epoch int) (n int, queries int64) {
	s.epoch, s.batches = epoch, steps.Schedule(s.graph.Train.Keys(s.configuration), s.configuration, s.seed, epoch)
	for _, draws := range s.batches {
		queries += int64(len(draws))
	}
	return len(s.batches), queries
}

func (s *single) at(step int) (batch, error) {
	return batch{trainingGraph: s.graph, draws: s.batches[step], seed: s.seed, epoch: s.epoch}, nil
}

func (s *single) trainingGraphs() []*trainingGraph { return []*trainingGraph{s.graph} }

func (s *single) graphs() int { return 0 }
