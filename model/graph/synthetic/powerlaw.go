package synthetic

import (
	"math"
	"math/rand/v2"

	"tagnet/model/graph"
)

// PowerLaw draws facts one at a time, so that it takes the same memory for any number of them. The degrees of entities
// and of relations are distributed by a power law. Where there are few entities for the facts, some repeat.
type PowerLaw struct {
	random              *rand.Rand
	entities, relations popularity
}

// NewPowerLaw returns a graph of some entities and relations, without facts yet. A degree of k is had by a share that
// falls as k to minus the exponent, which is above 2.
func NewPowerLaw(entities, relations int64, exponent float64, seed uint64) *PowerLaw {
	power := 1 - 1/(exponent-1)
	return &PowerLaw{rand.New(rand.NewPCG(seed, sampleStream)), popularity{entities, power}, popularity{relations, power}}
}

// Next draws a fact. The hubs among heads are others than those among tails, and have ids from everywhere.
func (p *PowerLaw) Next() graph.Fact {
	const headPrime, tailPrime = 2_654_435_761, 2_246_822_519 // above all ids: a product modulo the number of ids permutes them
	id := func(rank, prime int64) int32 { return int32(rank * prime % p.entities.size) }
	head, relation, tail := p.entities.draw(p.random), p.relations.draw(p.random), p.entities.draw(p.random)
	return graph.Fact{Head: id(head, headPrime), Relation: int32(relation), Tail: id(tail, tailPrime)}
}

// popularity is a distribution over the ranks 0 to size-1, with the probability of rank k proportional
// to (k+1)^(power-1).
type popularity struct {
	size  int64
	power float64
}

func (l popularity) draw(random *rand.Rand) int64 {
	span := math.Pow(float64(l.size)+1, l.power) - 1
	k := int64(math.Pow(random.Float64()*span+1, 1/l.power)) - 1
	return min(max(k, 0), l.size-1)
}
