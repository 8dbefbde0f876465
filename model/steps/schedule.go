package steps

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
)

// Draw is one query of a batch: the index of a training fact, which queries its tail or, if Inverse, its head. With
// Joined it is a further answer of the query before it in the batch.
type Draw struct {
	Fact    int32
	Inverse bool
	Joined  bool
}

// Number returns the number of the query among the training queries: 2f and 2f+1 are the two of fact f.
func (d Draw) Number() int64 {
	number := 2 * int64(d.Fact)
	if d.Inverse {
		number++
	}
	return number
}

// Keys group the queries of facts into batches.
type Keys struct {
	// Facts is the number of facts.
	Facts int
	// Tails and Heads have, by fact, the sources of the queries for its tail and for its head. For groups by relation,
	// Tails has the relations and Heads is nil; for queries of several answers, both have numbers of the queries'
	// sources and relations. Both are nil where queries are not grouped.
	Tails, Heads []int32

	numbers map[[2]int32]int32 // by source and relation, the complement of a relation for its inverse; nil but for several answers
	pairs   [][2]int32         // the sources and relations, by number
}

// KeysOf returns the keys of facts, for the batches of a configuration.
func KeysOf(facts []graph.Fact, c configuration.Configuration) Keys {
	k := NewKeys(c)
	for _, f := range facts {
		k.Add(f)
	}
	return k
}

// NewKeys returns keys of no facts, for the batches of a configuration.
func NewKeys(c configuration.Configuration) Keys {
	k := Keys{}
	if c.SeveralAnswers() {
		return Keys{Tails: []int32{}, Heads: []int32{}, numbers: map[[2]int32]int32{}}
	}
	if c.Batching == configuration.BatchingGrouped || c.Batching == configuration.BatchingRelation {
		k.Tails = []int32{}
	}
	if c.Batching == configuration.BatchingGrouped {
		k.Heads = []int32{}
	}
	return k
}

// Add adds the next fact.
func (k *Keys) Add(f graph.Fact) {
	k.Facts++
	switch {
	case k.numbers != nil:
		k.Tails, k.Heads = append(k.Tails, k.number(f.Head, f.Relation)), append(k.Heads, k.number(f.Tail, ^f.Relation))
	case k.Heads != nil:
		k.Tails, k.Heads = append(k.Tails, f.Head), append(k.Heads, f.Tail)
	case k.Tails != nil:
		k.Tails = append(k.Tails, f.Relation)
	}
}

// pairNumber returns the key of a query.
func (k Keys) pairNumber(d Draw) int32 {
	if d.Inverse && k.Heads != nil {
		return k.Heads[d.Fact]
	}
	return k.Tails[d.Fact]
}

// Schedule returns the batches of one epoch (from 1), in which each fact is drawn once, or each fact of the epoch's
// part with QueriesPerEpoch; with several answers for each query, as many answers are drawn. It depends on the facts,
// the configuration, the seed and the epoch alone, so that a training can resume inside an epoch.
func Schedule(k Keys, c configuration.Configuration, seed uint64, epoch int) [][]Draw {
	if c.SeveralAnswers() {
		return joinedSchedule(k, c, seed, epoch)
	}
	drawn := drawnIn(k.Facts, c, seed, epoch)
	switch c.Batching {
	case configuration.BatchingGrouped:
		return groupedSchedule(k, drawn, c.BatchSize, c.BatchSize, seed, epoch)
	case configuration.BatchingRelation:
		return groupedSchedule(k, drawn, c.BatchSize, max(1, c.BatchSize/relationsOfBatch), seed, epoch)
	}
	return randomSchedule(drawn, c.BatchSize)
}

// FactsPerEpoch returns how many of a number of facts an epoch draws, at most.
func FactsPerEpoch(facts int, c configuration.Configuration) int {
	epochs := epochsOfRound(facts, c)
	return (facts + epochs - 1) / epochs
}

// epochsOfRound returns the number of epochs that together draw each of a number of facts once.
func epochsOfRound(facts int, c configuration.Configuration) int {
	if n := c.QueriesPerEpoch; n > 0 && n < facts {
		return (facts + n - 1) / n
	}
	return 1
}

// drawnIn returns the facts that an epoch draws, in its order. Where an epoch does not draw all facts, the epochs of a
// round draw consecutive parts of one order, whose lengths differ by at most one.
func drawnIn(facts int, c configuration.Configuration, seed uint64, epoch int) []int32 {
	epochs := epochsOfRound(facts, c)
	if epochs == 1 {
		return shuffled(facts, parallel.Seed(seed, purposeOrder, uint64(epoch)))
	}
	round, part := (epoch-1)/epochs, (epoch-1)%epochs
	order := shuffled(facts, parallel.Seed(seed, purposeRound, uint64(round)))
	return slices.Clone(order[part*facts/epochs : (part+1)*facts/epochs])
}

// relationsOfBatch is the number of base relations, about, that a batch of BatchingRelation asks.
const relationsOfBatch = 4

// randomSchedule draws each batch from facts in a random order: the first half of a batch asks for tails, the second
// for heads. The last batch may be smaller.
func randomSchedule(order []int32, batch int) [][]Draw {
	var batches [][]Draw
	for chosen := range slices.Chunk(order, batch) {
		draws := make([]Draw, len(chosen))
		for i, fact := range chosen {
			draws[i] = Draw{Fact: fact, Inverse: i >= len(chosen)/2}
		}
		batches = append(batches, draws)
	}
	return batches
}

// groupedSchedule draws whole groups of queries that share a key. Whether the query of a fact is for its tail or its
// head is decided at random; the queries are grouped by key, groups larger than most are split, and
// batches filled with groups in random order, each closed before it would grow beyond the batch size.
func groupedSchedule(k Keys, order []int32, batch, most int, seed uint64, epoch int) [][]Draw {
	draws := make([]Draw, len(order))
	for i, fact := range order {
		coin := parallel.Seed(seed, purposeCoin, uint64(epoch), uint64(fact))
		draws[i] = Draw{Fact: fact, Inverse: coin&1 == 1}
	}
	slices.SortStableFunc(draws, func(a, b Draw) int { return cmp.Compare(k.pairNumber(a), k.pairNumber(b)) })
	var groups [][]Draw
	for start := 0; start < len(draws); {
		end := start + 1
		for end < len(draws) && end-start < most && k.pairNumber(draws[end]) == k.pairNumber(draws[start]) {
			end++
		}
		groups = append(groups, draws[start:end:end])
		start = end
	}
	var batches [][]Draw
	var filling []Draw
	for _, g := range shuffled(len(groups), parallel.Seed(seed, purposeGroups, uint64(epoch))) {
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

// Example returns the query that d draws from facts over baseRelations relations, without its known answers.
func (d Draw) Example(facts []graph.Fact, baseRelations int32, seed uint64, epoch int) Example {
	e := Example{Key: d.key(seed, epoch)}
	tail, head := facts[d.Fact].Queries(baseRelations)
	if e.Query = tail; d.Inverse {
		e.Query = head
	}
	return e
}

// key returns the key of the query in an epoch.
func (d Draw) key(seed uint64, epoch int) uint64 {
	return parallel.Seed(seed, purposeQuery, uint64(epoch), uint64(d.Fact), uint64(d.Number()%2))
}

// StepSeed returns the seed of a training step, from 0 in its epoch.
func StepSeed(seed uint64, epoch, step int) uint64 {
	return parallel.Seed(seed, purposeStep, uint64(epoch), uint64(step))
}

// WeightsSeed returns the seed of a training's initial weights.
func WeightsSeed(seed uint64) uint64 { return parallel.Seed(seed, purposeWeights) }

// LearningRate returns the learning rate of an epoch, from 1.
func LearningRate(c configuration.Configuration, epoch int) float64 {
	rate := c.LearningRate
	for range epoch - 1 {
		rate *= c.LearningRateDecay
	}
	return max(rate, c.LeastLearningRate)
}

// Purposes keep the random numbers of different uses apart.
const (
	purposeOrder uint64 = iota + 1
	purposeCoin
	purposeGroups
	purposeStep
	purposeQuery
	purposeWeights
	purposeRound
	purposeAnswers
)

// shuffled returns 0..n-1 in an order that the seed alone decides (Fisher and Yates). It is written out so that
// no library's change of method can change what a seed means.
func shuffled(n int, seed uint64) []int32 {
	order := parallel.Indices[int32](n)
	for i := n - 1; i > 0; i-- {
		j := int(parallel.Seed(seed, uint64(i)) % uint64(i+1)) // the bias is below n / 2^64
		order[i], order[j] = order[j], order[i]
	}
	return order
}
