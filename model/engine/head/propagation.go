package head

import "tagnet/model/weights/parameters"

// Propagation is the interface of a propagation of the current query, which is set before the head
// runs. Package propagation implements it in float32; tests do so in float64.
type Propagation[F parameters.Float] interface {
	// Depth returns the number D of states of an entity, Width the number W of entries of a state.
	// A*Net's policies have D = W = 1: the state is the score.
	Depth() int
	Width() int
	// Forward propagates the current query.
	Forward() error
	// Candidates sets states, [n, D, W], to the states of n entities, zeros where an entity has none,
	// and valid, [n], to their number: 0 for an entity that is not reached. States beyond the valid
	// ones are not read.
	Candidates(entities []int32, states []F, valid []int32)
	// Backward propagates the gradient of those states. It keeps the gradients of its own parameters
	// and sets query, [d], to the gradient of the query's embedding.
	Backward(entities []int32, gradient []F, query []F) error
}

// candidates are the entities of the current query: the answer, then the negatives.
type candidates struct {
	entities []int32
	valid    []int32
}

// propagate is a propagation as an operation, from the query's embedding, [d], to the states of the
// candidates, [n D, W].
type propagate[F parameters.Float] struct {
	propagation Propagation[F]
	*candidates
}

func (p propagate[F]) forward(_ [][]F, out []F) error {
	if err := p.propagation.Forward(); err != nil {
		return err
	}
	p.propagation.Candidates(p.entities, out, p.valid)
	return nil
}

func (p propagate[F]) backward(_ [][]F, _, gradient []F, gradients [][]F) error {
	return p.propagation.Backward(p.entities, gradient, gradients[0])
}
