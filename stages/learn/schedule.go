package learn

import (
	"cmp"
	"slices"

	"tagnet/model/random"
)

// Fact is a training fact by id: Head -Relation-> Tail, Relation a base relation.
type Fact struct{ Head, Relation, Tail int32 }

// Draw is one query of a batch: a fact, asked for its tail or, Reciprocal, for its head.
type Draw struct {
	Fact       int32
	Reciprocal bool
}

// A schedule is the batches of one epoch. It depends on the facts, the seed and the epoch
// alone, so that a run can continue inside an epoch.

// RandomSchedule draws each batch at random over all facts, each of them once: the first half
// of a batch asks for tails, the second for heads. The last batch may be smaller.
func RandomSchedule(facts int, batch int, seed uint64, epoch int) [][]Draw {
	order := shuffled(facts, random.Seed(seed, purposeOrder, uint64(epoch)))
	var batches [][]Draw
	for start := 0; start < facts; start += batch {
		chosen := order[start:min(start+batch, facts)]
		draws := make([]Draw, len(chosen))
		for i, fact := range chosen {
			draws[i] = Draw{Fact: fact, Reciprocal: i >= len(chosen)/2}
		}
		batches = append(batches, draws)
	}
	return batches
}

// GroupedSchedule draws whole groups of queries that share a source. Every fact is asked once,
// for its tail or for its head by the toss of a coin; the queries are grouped by source, groups
// larger than a batch are cut, and batches filled with groups in random order, each closed
// before it would grow beyond the batch size.
func GroupedSchedule(facts []Fact, batch int, seed uint64, epoch int) [][]Draw {
	draws := make([]Draw, len(facts))
	order := shuffled(len(facts), random.Seed(seed, purposeOrder, uint64(epoch)))
	for i, fact := range order {
		coin := random.Seed(seed, purposeCoin, uint64(epoch), uint64(fact))
		draws[i] = Draw{Fact: fact, Reciprocal: coin&1 == 1}
	}
	source := func(d Draw) int32 {
		if d.Reciprocal {
			return facts[d.Fact].Tail
		}
		return facts[d.Fact].Head
	}
	slices.SortStableFunc(draws, func(a, b Draw) int { return cmp.Compare(source(a), source(b)) })
	var groups [][]Draw
	for start := 0; start < len(draws); {
		end := start + 1
		for end < len(draws) && end-start < batch && source(draws[end]) == source(draws[start]) {
			end++
		}
		groups = append(groups, draws[start:end:end])
		start = end
	}
	var batches [][]Draw
	var filling []Draw
	for _, g := range shuffled(len(groups), random.Seed(seed, purposeGroups, uint64(epoch))) {
		if len(filling)+len(groups[g]) > batch {
			batches = append(batches, filling)
			filling = nil
		}
		filling = append(filling, groups[g]...)
	}
	if len(filling) > 0 {
		batches = append(batches, filling)
	}
	return batches
}

// Purposes keep the random numbers of different uses apart.
const (
	purposeOrder uint64 = iota + 1
	purposeCoin
	purposeGroups
	purposeStep
	purposeQuery
	purposeWeights
)

// shuffled is 0..n-1 in an order that the seed alone decides (Fisher and Yates). It is spelt
// out so that no library's change of method can change what a seed means.
func shuffled(n int, seed uint64) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		j := int(random.Seed(seed, uint64(i)) % uint64(i+1)) // the bias is below n / 2^64
		order[i], order[j] = order[j], order[i]
	}
	return order
}
