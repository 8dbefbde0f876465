package head

import "tagnet/model/parameters"

// Propagation is what the head asks of a propagation, for one query at a time: whoever runs
// the head has told it the query before. Float32 propagations are those of the kernels;
// float64 ones serve tests.
type Propagation[F parameters.Float] interface {
	// Depth is the number D of states per entity, Width the entries W of a state. A*Net's
	// policies have D = W = 1: the state is the score itself.
	Depth() int
	Width() int
	// Forward propagates the current query.
	Forward() error
	// Candidates writes the states of n entities, [n, D, W], with zeros where an entity has
	// none, and to valid, [n], how many each has: 0 where it is unreached. The states of an
	// entity beyond its valid ones are not read.
	Candidates(entities []int32, states []F, valid []int32)
	// Backward takes the gradient of those states through the propagation. It keeps the
	// gradients of its own parameters, and sets query, [d], to that of the query's embedding.
	Backward(entities []int32, gradient []F, query []F) error
}

// candidates are the entities of the current query: the answer, then the negatives.
type candidates struct {
	entities []int32
	valid    []int32
}

// propagate is a propagation as an operation: from the query's embedding, [d], to the states
// of the candidates, [n D, W].
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
