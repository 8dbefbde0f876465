package probability

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"math"
	"slices"

	"tagnet/formats/check"
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/random"
)

// Sample says which observations a fit is made of. It depends on the graph and the training alone, not on how work is shared nor on which
// queries a user has.
type Sample struct {
	Seed int64 `json:"seed"`
	// K is the number of best candidates of a query that count.
	K int `json:"k"`
	// Facts is the most facts that are labeled.
	Facts int `json:"facts"`
	// Relations is the number of relations without inverses.
	Relations int `json:"relations"`
	// Rate is the share of all queries whose candidates are unlabeled observations.
	Rate float64 `json:"rate"`
}

const (
	// DefaultK is the number of best candidates of a query that count.
	DefaultK = 10
	// MostFacts is the most facts that are labeled. HeldOutFirst is the number to which facts that training did not see are filled up by
	// others.
	MostFacts, HeldOutFirst = 10_000, 500
	// mostUnlabeled is about the most unlabeled observations: more change little.
	mostUnlabeled = 100_000
	// leastPropagations are made even after a short training, which they may take longer than a tenth of: fewer say too little, and on a graph
	// for which a training that short is enough they take a few seconds.
	leastPropagations = 10_000
)

// Size is what the cost of a fit follows from.
type Size struct {
	// Entities and Relations, without inverses, are those of the graph of all facts, which has Facts.
	Entities, Relations int
	Facts               int64
	K                   int
}

// Training returns the number of propagations whose time a training takes: each of its queries has a forward pass and a backward pass, which
// takes twice the time.
func Training(c configuration.Configuration, facts int64) int64 {
	drawn := facts
	if n := int64(c.QueriesPerEpoch); n > 0 {
		drawn = min(drawn, n)
	}
	return 3 * drawn * int64(c.Epochs)
}

// Sample returns a sample whose observations take at most a tenth of the propagations of a training (Training; for a model that comes trained:
// that of an epoch), a fifth of them for labeled facts.
func (s Size) Sample(training, seed int64) Sample {
	propagations := max(training/10, leastPropagations)
	sample := Sample{Seed: seed, K: s.K, Relations: s.Relations, Facts: int(min(s.Facts, MostFacts, propagations/10))}
	rest := float64(propagations - 2*int64(sample.Facts))
	low, high := 0.0, min(1, mostUnlabeled/(s.queries()*float64(s.K)))
	if s.unlabeled(high) <= rest {
		sample.Rate = high
		return sample
	}
	for range 60 {
		if middle := (low + high) / 2; s.unlabeled(middle) <= rest {
			low = middle
		} else {
			high = middle
		}
	}
	sample.Rate = low
	return sample
}

// Propagations returns about how many propagations the observations of a sample take, at most.
func (s Size) Propagations(sample Sample) int64 {
	return 2*min(s.Facts, int64(sample.Facts)) + int64(s.unlabeled(sample.Rate))
}

// Observations returns about how many observations a sample has.
func (s Size) Observations(sample Sample) int64 {
	return min(s.Facts, int64(sample.Facts)) + int64(s.queries()*sample.Rate*float64(s.K))
}

// queries returns the number of all queries.
func (s Size) queries() float64 { return 2 * float64(s.Entities) * float64(s.Relations) }

// unlabeled returns the number of propagations for the candidates of queries that are drawn with a rate: each query, and those that ask for the
// K best candidates of each in the other direction. That is as many different ones as if all queries were equally likely to be
// among these; in fact popular answers share them.
func (s Size) unlabeled(rate float64) float64 {
	return s.queries() * (rate - math.Expm1(-rate*float64(s.K)))
}

// Check returns an error for a sample that this program never draws.
func (s Sample) Check() error {
	if !(s.Rate > 0 && s.Rate <= 1) {
		return fmt.Errorf("rate is %v, want more than 0 and at most 1", s.Rate)
	}
	return check.First(check.Between("k", s.K, 1, 1<<30), check.Between("facts", s.Facts, 0, MostFacts), check.Between("relations", s.Relations, 1, 1<<30))
}

// key returns a number that the ids of a fact and a seed draw.
func (s Sample) key(f graph.Fact) uint64 {
	return random.Seed(uint64(s.Seed), uint64(uint32(f.Head)), uint64(uint32(f.Relation)), uint64(uint32(f.Tail)))
}

// folds is the number of folds.
const folds = 5

// fold returns that of a fact. It does not follow from which facts are drawn.
func (s Sample) fold(f graph.Fact) int { return int(random.Mix(s.key(f)) % folds) }

// Query reports whether the candidates of a query are in the sample. relation is one of all relations, inverse ones included.
func (s Sample) Query(source, relation int32) bool {
	return float64(random.Seed(uint64(s.Seed), uint64(uint32(source)), uint64(uint32(relation)))>>11)/(1<<53) < s.Rate
}

// Takes reports whether a candidate that the graph lacks is in the sample. Each one that counts is with the same probability: it belongs to
// one of its queries, (Head, Relation, ?) if that ranks it among its best, and that one is drawn.
func (s Sample) Takes(o *Observation) bool {
	switch {
	case o.Tails.Rank <= int64(s.K):
		return s.Query(o.Head, o.Relation)
	case o.Heads.Rank <= int64(s.K):
		return s.Query(o.Tail, o.Relation+int32(s.Relations))
	}
	return false
}

// Draw returns the facts that are to be labeled, ordered: drawn from all facts of the graph or, where held is not empty, those first, filled up
// by others to HeldOutFirst. held are facts of the graph that training did not see, chosen at random; which facts a dataset's authors held out
// says nothing of which are missing.
func (s Sample) Draw(held []graph.Fact, all iter.Seq[graph.Fact]) []Drawn {
	if len(held) == 0 {
		return drawn(s.lowest(s.Facts, all), false)
	}
	first := s.lowest(s.Facts, slices.Values(held))
	is := make(map[graph.Fact]bool, len(held))
	for _, f := range held {
		is[f] = true
	}
	others := s.lowest(min(s.Facts, HeldOutFirst)-len(first), func(yield func(graph.Fact) bool) {
		for f := range all {
			if !is[f] && !yield(f) {
				return
			}
		}
	})
	list := append(drawn(first, true), drawn(others, false)...)
	slices.SortFunc(list, func(a, b Drawn) int { return a.Compare(b.Fact) })
	return list
}

// Drawn is a fact that is to be labeled.
type Drawn struct {
	graph.Fact
	// HeldOut is set if training did not see it.
	HeldOut bool
}

func drawn(facts []graph.Fact, heldOut bool) []Drawn {
	list := make([]Drawn, len(facts))
	for i, f := range facts {
		list[i] = Drawn{f, heldOut}
	}
	return list
}

// lowest returns the facts with the lowest keys, ordered, whatever the order they come in.
func (s Sample) lowest(most int, facts iter.Seq[graph.Fact]) []graph.Fact {
	if most <= 0 {
		return nil
	}
	h := &highest{}
	for f := range facts {
		k := keyed{s.key(f), f}
		switch {
		case len(*h) < most:
			heap.Push(h, k)
		case k.compare((*h)[0]) < 0:
			(*h)[0] = k
			heap.Fix(h, 0)
		}
	}
	list := make([]graph.Fact, len(*h))
	for i, k := range *h {
		list[i] = k.Fact
	}
	slices.SortFunc(list, graph.Fact.Compare)
	return list
}

type keyed struct {
	key uint64
	graph.Fact
}

func (k keyed) compare(o keyed) int {
	return cmp.Or(cmp.Compare(k.key, o.key), k.Fact.Compare(o.Fact))
}

// highest is a heap of facts, that of the highest key first.
type highest []keyed

func (h highest) Len() int           { return len(h) }
func (h highest) Less(i, j int) bool { return h[i].compare(h[j]) > 0 }
func (h highest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *highest) Push(x any)        { *h = append(*h, x.(keyed)) }
func (h *highest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// Facts returns the facts of a graph, by tail, head and relation.
func Facts(g *graph.Graph) iter.Seq[graph.Fact] {
	return func(yield func(graph.Fact) bool) {
		for tail := range int32(g.Entities) {
			senders, relations := g.In(tail)
			for i, r := range relations {
				if int(r) < g.BaseRelations && !yield(graph.Fact{Head: senders[i], Relation: r, Tail: tail}) {
					return
				}
			}
		}
	}
}
