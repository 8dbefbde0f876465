package accelerator

import (
	"context"
	"tagnet/model/configuration"
	"tagnet/model/gpu"
	"tagnet/model/graph"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
	"tagnet/model/relations"
)

// Devices opens the devices of a machine.
type Devices interface {
	// Supports returns an error that says what of a configuration devices do not compute, nil where they compute it.
	Supports(c configuration.Configuration) error
	// Open returns the device of that number. The error wraps one of package device.
	Open(ordinal int) (Accelerator, error)
}

// Accelerator trains and scores on an open device, or on several as one, for one goroutine at a time. Its errors wrap those of package device.
type Accelerator interface {
	// Name names the kind of device, as training.jsonl records it; String also names the device.
	Name() string
	String() string
	// NewTrainer returns a trainer of p with copies of the weights and of the solver's state on the device. between is the graph
	// of the relations, or nil: then it is made where the model needs it.
	NewTrainer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *optimizer.Adam) (Trainer, error)
	// NewScorer likewise returns a scorer with a copy of the weights on the device.
	NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (Scorer, error)
	// Close gives the device back; trainers and scorers that are still open are lost.
	Close() error
}

// Trainer makes the steps of a training: optimizer.Trainer, which works on the weights and the solver in place, or gpu.Trainer.
type Trainer interface {
	// Step changes the weights by the mean gradient of a batch; see optimizer.Trainer.Step.
	Step(examples []optimizer.Example, seed uint64) (optimizer.Result, error)
	// Store copies the weights and the solver's state, its number of steps included, to where the trainer had them from.
	Store() error
	// Load is the opposite of Store: it copies them from there.
	Load() error
	// Close frees what the trainer holds. It does not store.
	Close() error
}

// Announcer is a Trainer that prepares a step while it makes the one before, as gpu.Trainer does.
type Announcer interface {
	// Announce tells what the step after the next one is of: next is called, at most once, while the next one is made. The results of the
	// announced step, or of another one in its place, are the same as without.
	Announce(next func() (examples []optimizer.Example, seed uint64))
}

// Scorer scores all entities for queries and keeps what is of interest, as gpu.Scorer does.
type Scorer interface {
	// Score answers any number of queries, in their order, each with its best candidates, highest score first.
	Score(ctx context.Context, queries []gpu.Query, best int) ([]gpu.Answered, error)
	// Close frees what the scorer holds.
	Close() error
}
