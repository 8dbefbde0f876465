package propagation

import (
	"context"

	"tagnet/model/engine/window"
	"tagnet/model/weights/configuration"
)

// policy decides which entities a layer updates, and along which edges. Its runner has the query and
// computes the layers.
type policy interface {
	// forward propagates from the source of the runner's query. It checks ctx before each layer.
	forward(ctx context.Context) error
	// backward adds the gradients of the last forward pass, which was for training, as Propagator.Backward says.
	backward(entities []int32, gradient []float32, into *Gradients)
	// sharesEqual reports whether equal states can be computed once.
	sharesEqual() bool
	// distance is Propagator.Distance.
	distance(entity int32) (hops int, reached bool)
	// width is Propagator.Width, candidates Propagator.Candidates.
	width() int
	candidates(entities []int32, states []float32, valid []int32)
}

// policies make the policies by the names that configurations have for them.
var policies = map[string]func(*runner) policy{
	configuration.PolicyWindow:          func(r *runner) policy { return newWindowPolicy(r) },
	configuration.PolicyFull:            func(r *runner) policy { return newFullPolicy(r) },
	configuration.PolicyAStar:           func(r *runner) policy { return newAStar(r) },
	configuration.PolicyWindowWithAStar: func(r *runner) policy { return newAStar(r) },
}

// layered is a policy with tables of states, one for each age in a window, else one for each layer.
type layered interface {
	policy
	// groups describes the update of all rows that layer t updated.
	groups(t int) []receiverGroup
	// backwardLayer propagates the gradients of the states that layer t computed.
	backwardLayer(t int, into *Gradients)
	// finalAges returns the ages of the states that an entity's final state is made of, none where last < first, and
	// the entity's row; finalTable the table which, after the last layer, holds the state of an age of a row.
	finalAges(entity int32) (first, last, row int)
	finalTable(row, age int) []float32
	// tableAfter returns the table with the states of a group's receivers after layer t.
	tableAfter(t int, x *receiverGroup) int
	// heard reports whether a sender of a kind was reached when it sent to a group's receivers in layer t.
	heard(t int, x *receiverGroup, kind int, sender int32) bool
	// different returns the rows of a level whose final states may differ, and those whose final states are known to
	// equal one of these.
	different(level int) (rows []int32, duplicates []window.Duplicate)
	// score is Propagator.Score, edgeGradients Propagator.EdgeGradients.
	score(values []float32, score func(states [][]float32, values []float32))
	edgeGradients(ctx context.Context, entity int32, gradient []float32, into *Gradients) error
}
