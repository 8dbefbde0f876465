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

// candidates are the entities of the current query: an answer, then its negatives. A query of several answers runs the
// graph for each of them, around one forward and one backward pass of the propagation.
type candidates struct {
	all         []int32 // of all answers, one after the other
	entities    []int32 // of the current answer
	validCounts []int32 // the number of valid states of each of entities
	answer      int     // the current answer, from 0
}

// last reports whether no answer follows.
func (c *candidates) last() bool { return (c.answer+1)*len(c.entities) == len(c.all) }

// propagate is a propagation as an operation, from the query's embedding, [d], to the states of the
// candidates, [n D, W]. Its gradient is 0 for all answers but the last, which has the gradient of all.
type propagate[F parameters.Float] struct {
	propagation Propagation[F]
	*candidates
	gradient []F // of the states of the candidates of all answers so far
}

func (p *propagate[F]) forward(_ [][]F, out []F) error {
	if p.answer == 0 {
		if err := p.propagation.Forward(); err != nil {
			return err
		}
	}
	p.propagation.Candidates(p.entities, out, p.validCounts)
	return nil
}

func (p *propagate[F]) backward(_ [][]F, _, gradient []F, gradients [][]F) error {
	if p.answer == 0 {
		p.gradient = p.gradient[:0]
	}
	p.gradient = append(p.gradient, gradient...)
	if !p.last() {
		clear(gradients[0])
		return nil
	}
	return p.propagation.Backward(p.all, p.gradient, gradients[0])
}
