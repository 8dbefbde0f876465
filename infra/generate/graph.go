package main

import (
	"fmt"
	"math"
)

// powerLaw is a distribution over the ranks 0..size-1, with the probability of rank k proportional to
// (k+1)^-s. Where s is 1/(exponent-1), the number of draws that each gets is
// distributed by a power law of that exponent.
type powerLaw struct {
	size        int64
	power, span float64 // 1-s, and the divisor of the cumulative shares
}

func newPowerLaw(size int64, exponent float64) powerLaw {
	power := 1 - 1/(exponent-1)
	return powerLaw{size: size, power: power, span: math.Pow(float64(size)+1, power) - 1}
}

// below returns the share of the ranks below k.
func (l powerLaw) below(k int64) float64 {
	return (math.Pow(float64(k)+1, l.power) - 1) / l.span
}

// rank returns the rank at a cumulative share in [0, 1).
func (l powerLaw) rank(share float64) int64 {
	k := int64(math.Pow(share*l.span+1, 1/l.power)) - 1
	return min(max(k, 0), l.size-1)
}

// fact is one line by id.
type fact struct{ head, relation, tail int64 }

// generator makes the i-th fact of a graph from i alone, so that no fact is kept.
//
// A fact has a number: heads have consecutive ones, as many as their share of the power law.
// The tails of a head's d facts fall one into each d-th of the power law's shares, so they
// ascend by rank, and equal ones are neighbors: those get consecutive relations, and no fact
// stands twice. Permutations then shuffle the facts, the heads and the tails.
type generator struct {
	seed         uint64
	facts        int64
	entities     powerLaw
	relations    powerLaw
	order        permutation
	heads, tails permutation
}

// newGenerator returns an error if a graph of these sizes cannot have so many distinct facts.
func newGenerator(facts, entities, relations int64, exponent float64, seed uint64) (*generator, error) {
	g := &generator{
		seed: mix(seed + 1), facts: facts,
		entities: newPowerLaw(entities, exponent), relations: newPowerLaw(relations, exponent),
	}
	g.order = newPermutation(g.seed^1, uint64(facts))
	g.heads = newPermutation(g.seed^2, uint64(entities))
	g.tails = newPermutation(g.seed^3, uint64(entities))
	if most := g.mostParallel(); most > relations {
		return nil, fmt.Errorf("--relations is %d: the largest hubs share up to %d facts, which differ by their relation; want as many relations, more entities, fewer facts or a larger --exponent", relations, most)
	}
	return g, nil
}

// start returns the number of the first fact of the head of a rank.
func (g *generator) start(rank int64) int64 {
	if rank >= g.entities.size {
		return g.facts
	}
	return int64(math.Round(g.entities.below(rank) * float64(g.facts)))
}

// largest returns the number of facts of which the largest hub is the head. Another hub is the tail of
// about as many.
func (g *generator) largest() int64 { return g.start(1) }

// mostParallel bounds the facts that two entities share: the tail of the largest share takes
// that part of the largest head's facts, and one more at its end.
func (g *generator) mostParallel() int64 {
	return int64(math.Ceil(g.entities.below(1)*float64(g.largest()))) + 1
}

// at returns the i-th fact of the graph, for i below g.facts.
func (g *generator) at(i int64) fact {
	number := int64(g.order.of(uint64(i)))
	head := g.entities.rank((float64(number) + 0.5) / float64(g.facts))
	for head > 0 && g.start(head) > number {
		head--
	}
	for g.start(head+1) <= number {
		head++
	}
	first := g.start(head)
	degree, k := g.start(head+1)-first, number-first
	tail := g.tail(head, degree, k)
	parallel := int64(0)
	for parallel < k && g.tail(head, degree, k-parallel-1) == tail {
		parallel++
	}
	relation := g.relations.rank(uniform(g.seed^4, uint64(head), uint64(tail)))
	return fact{
		head:     int64(g.heads.of(uint64(head))),
		relation: (relation + parallel) % g.relations.size,
		tail:     int64(g.tails.of(uint64(tail))),
	}
}

// tail returns the rank of the tail of the k-th of a head's facts.
func (g *generator) tail(head, degree, k int64) int64 {
	return g.entities.rank((float64(k) + uniform(g.seed^5, uint64(head), uint64(k))) / float64(degree))
}
