package accelerator

import (
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
	"tagnet/model/ranking"
)

// Accelerator trains and scores on an open device, for one goroutine at a time. Its errors wrap those of package device.
type Accelerator interface {
	// Name names the kind of device, as training.jsonl records it; String also names the device.
	Name() string
	String() string
	// NewTrainer returns a trainer of p with copies of the weights and of the solver's state on the device.
	NewTrainer(g *graph.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *optimizer.Adam) (Trainer, error)
	// NewScorer returns a scorer with a copy of the weights on the device.
	NewScorer(g *graph.Graph, c configuration.Configuration, p *parameters.Set[float32]) (Scorer, error)
	// Close gives the device back; trainers and scorers that are still open are lost.
	Close() error
}

// Trainer makes the steps of a training. optimizer.Trainer is one, which works on the weights and the solver in place.
type Trainer interface {
	// Step changes the weights by the mean gradient of a batch; see optimizer.Trainer.Step.
	Step(examples []optimizer.Example, seed uint64) (optimizer.Result, error)
	// Store copies the weights and the solver's state, its number of steps included, to where the trainer had them from.
	Store() error
	// Close frees what the trainer holds. It does not store.
	Close() error
}

// Scorer scores all entities for queries and keeps what is of interest.
type Scorer interface {
	// Score answers any number of queries, in their order, each with its best candidates, highest score first. Queries
	// that are ordered by source are cheaper.
	Score(queries []Query, best int) ([]Answered, error)
	// Close frees what the scorer holds.
	Close() error
}

// Query is a query (Source, Relation, ?).
type Query struct {
	Source, Relation int32
	// Answers are ranked among all entities but Known, which is ascending.
	Answers, Known []int32
}

// Answered holds the results of a query. Scores, Ranks and Distances have an entry per answer.
type Answered struct {
	Scores []float32
	Ranks  []ranking.Rank
	// Distances are hops from the source, -1 where the answer is farther away than the model has layers.
	Distances []int32
	Best      []Candidate
	// Messages is the number of messages sent.
	Messages int64
}

// Candidate is an entity with its score and its distance, which is -1 where it was not reached.
type Candidate struct {
	Entity   int32
	Score    float32
	Distance int32
}
