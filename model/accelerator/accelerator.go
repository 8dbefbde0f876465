package accelerator

import (
	"tagnet/model/answer"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Devices opens the devices of a machine; gpu.Driver makes one.
type Devices interface {
	// Supports returns an error that names the field of a configuration that devices do not compute, or nil.
	Supports(c configuration.Configuration) error
	// Open returns the device of that number. The error wraps one of package device.
	Open(ordinal int) (Accelerator, error)
}

// Accelerator trains and scores on an open device, or on several as one. A trainer has it for itself; scorers of
// several goroutines take turns. Its errors wrap the errors of package device.
type Accelerator interface {
	// Name names the kind of device, as training.jsonl records it; String also names the device.
	Name() string
	String() string
	// NewTrainer returns a trainer of p with copies of the weights and of the solver's state on the device. between is
	// the graph of the relations, or nil: the model makes it if it needs one.
	NewTrainer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *steps.Adam) (steps.Stepper, error)
	// NewScorer likewise returns a scorer with a copy of the weights on the device.
	NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (answer.Scorer, error)
	// Close gives the device back; trainers and scorers that are still open are lost.
	Close() error
}
