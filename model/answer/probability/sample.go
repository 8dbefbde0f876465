package probability

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"tagnet/formats/strict"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
)

// Sample says which observations a fit is made of. It depends on the graph and the training alone, not on how work is
// shared nor on which queries a user has.
type Sample struct {
	Seed int64 `json:"seed"`
	// K is the number of best candidates of a query that count.
	K int `json:"k"`
	// Facts is the most facts that are labeled.
	Facts int `json:"facts"`
	// Relations is the number of relations without inverses.
	Relations int `json:"relations"`
	// Rate is the share of the queries to which the graph knows an answer whose candidates are unlabeled observations.
	// Of the others, which are many and whose candidates are seldom true, the share is less by the factor QueryDivisor;
	// and of the candidates beyond the first two of a query only one of CandidateDivisor is observed. An observed one
	// stands for all: it has their number as its weight.
	Rate             float64 `json:"rate"`
	QueryDivisor     int     `json:"sparse"`
	CandidateDivisor int     `json:"thin"`
}

const (
	// DefaultK is the number of best candidates of a query that count.
	DefaultK = 10
	// mostFacts is the most facts that are labeled. heldOutFirst is the number of labeled facts up to which others are
	// added to held-out ones.
	mostFacts, heldOutFirst = 10_000, 2_000
	// mostUnlabeled is about the most unlabeled observations: more change little.
	mostUnlabeled = 200_000
	// mostWork is the number of multiply-adds, about three minutes of a core, up to which a fit takes as long as the
	// training, and not a tenth of it: facts for a list are as much its purpose as ranks. Even after a very short one
	// are made enough propagations, of at most a third of mostWork, and never fewer than leastPropagations. Of CoDEx-S
	// without a tenth of its facts, of the first 500 .80 were right with 24,000, and .92 with 96,000.
	mostWork, enough, leastPropagations = 1.2e12, 96_000., 2000.
	// mostDivisor is the most that QueryDivisor and CandidateDivisor are.
	mostDivisor = 1 << 10
	// first is the number of best candidates of a query that are not thinned.
	first = 2
)

// Size has the numbers that determine the cost of a fit.
type Size struct {
	// Entities, Relations, without inverses, and Facts are the numbers of the graph of all facts.
	Entities, Relations int
	Facts               int64
	// Answered is the number of queries to which the graph knows an answer.
	Answered int64
	K        int
	// Work is about the number of multiply-adds of a propagation.
	Work float64
}

// SizeOf returns the size of a fit in the graph of all facts, without Answered and Work.
func SizeOf(g *graph.Graph) Size {
	return Size{Entities: g.Entities, Relations: g.BaseRelations, Facts: g.Edges() / 2, K: DefaultK}
}

// Training returns the number of propagations whose time a training on facts takes: each of its queries has a forward
// pass and a backward pass, which takes twice the time.
func Training(c configuration.Configuration, facts []graph.Fact) int64 {
	queries := 2 * len(facts)
	if c.SeveralAnswers() {
		answers := map[[2]int32]int{} // by source and relation
		for _, f := range facts {
			answers[[2]int32{f.Head, f.Relation}]++
			answers[[2]int32{f.Tail, ^f.Relation}]++
		}
		queries = 0
		for _, n := range answers {
			queries += c.QueriesOf(n)
		}
	}
	passes := float64(c.Epochs) / 2 // an epoch asks each fact one way
	if n := c.QueriesPerEpoch; n > 0 {
		passes *= min(1, float64(n)/float64(max(1, len(facts))))
	}
	return int64(3 * passes * float64(queries))
}

// Sample returns a sample whose observations take about a tenth of the propagations of a training (Training), all of
// them up to mostWork, enough where that is less, and mostWork for a model that comes trained, whose training is 0. Of
// these, a fifth is for labeled facts.
func (s Size) Sample(training, seed int64) Sample {
	most := mostWork / s.Work
	least, short := min(enough, most/3), min(float64(training), most)
	if training == 0 {
		short = most
	}
	propagations := max(float64(training/10), short, least, leastPropagations)
	sample := Sample{Seed: seed, K: s.K, Relations: s.Relations, Facts: int(min(float64(s.Facts), mostFacts, propagations/10))}
	rest := propagations - 2*float64(sample.Facts)
	sample.Rate, sample.QueryDivisor, sample.CandidateDivisor = 1, 1, 1
	if s.fits(sample, rest) {
		return sample
	}
	// Drawn are, in proportion, as many as the root of the share of theirs that are missing (Neyman, 1934): about three
	// of four missing facts answer a query that has an answer, and most are among its first two.
	others := s.queries() - float64(s.Answered)
	sample.QueryDivisor, sample.CandidateDivisor = int(min(max(1, math.Sqrt(3*others/float64(max(1, s.Answered)))), mostDivisor)), 4
	if s.fits(sample, rest) {
		return sample
	}
	low, high := 0.0, 1.0
	for range 60 {
		if sample.Rate = (low + high) / 2; s.fits(sample, rest) {
			low = sample.Rate
		} else {
			high = sample.Rate
		}
	}
	sample.Rate = low
	return sample
}

// Propagations returns about how many propagations the observations of a sample take, at most, where an unlabeled one
// takes a share of an inverse query: popular answers have theirs in common.
func (s Size) Propagations(sample Sample, inverse float64) int64 {
	propagations, observations := s.unlabeled(sample)
	propagations = min(propagations, observations/sample.PerQuery()+inverse*observations)
	return 2*min(s.Facts, int64(sample.Facts)) + int64(propagations)
}

// Observed returns about how many observations a sample has.
func (s Size) Observed(sample Sample) int64 {
	_, observations := s.unlabeled(sample)
	return min(s.Facts, int64(sample.Facts)) + int64(observations)
}

// fits reports whether the unlabeled observations of a sample are not too many, and take no more
// propagations than most.
func (s Size) fits(sample Sample, most float64) bool {
	propagations, observations := s.unlabeled(sample)
	return propagations <= most && observations <= mostUnlabeled
}

// Observations returns about how many observations a sample has at most.
func (s Size) Observations() int64 {
	return min(s.Facts, mostFacts) + int64(min(s.queries()*float64(s.K), mostUnlabeled))
}

func (s Size) queries() float64 { return 2 * float64(s.Entities) * float64(s.Relations) }

// unlabeled returns the number of unlabeled observations, and of propagations for them: each drawn query, and the
// inverse queries of its candidates. That is as many different ones as if all queries were equally likely to be among
// these; in fact popular answers share them.
func (s Size) unlabeled(sample Sample) (propagations, observations float64) {
	queries := s.queries()
	asked := sample.Rate * (float64(s.Answered) + (queries-float64(s.Answered))/float64(sample.QueryDivisor))
	observations = asked * sample.PerQuery()
	return asked - queries*math.Expm1(-observations/queries), observations
}

// Check returns an error for a sample that this program never draws.
func (s Sample) Check() error {
	if !(s.Rate > 0 && s.Rate <= 1) {
		return fmt.Errorf("rate is %v, want more than 0 and at most 1", s.Rate)
	}
	return strict.First(strict.Between("k", s.K, 1, 1<<30), strict.Between("sparse", s.QueryDivisor, 1, mostDivisor),
		strict.Between("thin", s.CandidateDivisor, 1, mostDivisor),
		strict.Between("facts", s.Facts, 0, mostFacts), strict.Between("relations", s.Relations, 1, 1<<30))
}

// key returns a number that the ids of a fact and a seed draw.
func (s Sample) key(f graph.Fact) uint64 {
	return parallel.Seed(uint64(s.Seed), uint64(uint32(f.Head)), uint64(uint32(f.Relation)), uint64(uint32(f.Tail)))
}

// folds is the number of folds.
const folds = 5

// fold returns the fold of a fact, which does not depend on the facts drawn.
func (s Sample) fold(f graph.Fact) int { return int(parallel.Mix(s.key(f)) % folds) }

// drawsQuery reports whether the candidates of a query are in the sample. relation is one of all relations, inverse
// ones included. answered is set if the graph knows an answer.
func (s Sample) drawsQuery(source, relation int32, answered bool) bool {
	if answered {
		return share(parallel.Seed(uint64(s.Seed), uint64(uint32(source)), uint64(uint32(relation)))) < s.Rate
	}
	n := s.block()
	only, is := s.ofBlock(relation, int64(source)/n, n)
	return is && only == int64(source)
}

// DrawQueries returns the queries that are in the sample, by relation and source. It takes time for the graph's facts
// and the sample, not for all queries.
func (s Sample) DrawQueries(ctx context.Context, around *Surroundings) (drawn []graph.Query, err error) {
	add := func(source, relation int32, answered bool) {
		if around.hasAnswer(source, relation) == answered && s.drawsQuery(source, relation, answered) {
			drawn = append(drawn, graph.Query{Source: source, Relation: relation, Answer: graph.None})
		}
	}
	for source := range int32(around.graph.Entities) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for _, relation := range around.relations(source) {
			add(source, relation, true)
		}
	}
	n, entities := s.block(), int64(around.graph.Entities)
	for relation := range int32(around.graph.RelationCount()) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for number := range (entities + n - 1) / n {
			if source, is := s.ofBlock(relation, number, n); is && source < entities {
				add(int32(source), relation, false)
			}
		}
	}
	slices.SortFunc(drawn, func(a, b graph.Query) int {
		return cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Source, b.Source))
	})
	return drawn, nil
}

// block returns the number of sources of a block: of the queries without an answer of a relation and a block, one at
// most is in the sample. Blocks are so long that at least every second one draws one.
func (s Sample) block() int64 { return int64(min(float64(s.QueryDivisor)/s.Rate, math.MaxInt32)) }

// ofBlock returns the source that a block of n sources draws for a relation, which may be beyond the last
// entity, and reports whether its query is in the sample if it has no answer. Each source is so with the
// probability Rate / QueryDivisor.
func (s Sample) ofBlock(relation int32, number, n int64) (source int64, is bool) {
	h := parallel.Seed(uint64(s.Seed), uint64(number), uint64(uint32(relation)), blocks)
	within, _ := bits.Mul64(h, uint64(n))
	return number*n + int64(within), share(parallel.Mix(h)) < float64(n)*s.Rate/float64(s.QueryDivisor)
}

// share returns a number from 0 up to 1 that random bits draw.
func share(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }

// Keeps reports whether a candidate of a rank is observed, if its query is drawn.
func (s Sample) Keeps(f graph.Fact, rank int64) bool {
	return rank <= first || parallel.Seed(s.key(f), thinning)%uint64(s.CandidateDivisor) == 0
}

// PerQuery returns the mean number of candidates of a query that are observed, if it is drawn.
func (s Sample) PerQuery() float64 {
	best := float64(min(first, s.K))
	return best + (float64(s.K)-best)/float64(s.CandidateDivisor)
}

// thinning and blocks tell the draws of Keeps and of ofBlock from others.
const thinning, blocks = 3, 4

// weight returns the weight of an unlabeled candidate, or 0 if it is not in the sample. The candidate belongs to (Head,
// Relation, ?) if it ranks among that query's best, else to its other query. Its weight is the inverse of the rates at
// which such queries are drawn and such candidates kept.
func (s Sample) weight(around *Surroundings, o *Observation) int {
	source, relation, rank := o.Head, o.Relation, o.Tails.Rank
	if rank > int64(s.K) {
		source, relation, rank = o.Tail, o.Relation+int32(s.Relations), o.Heads.Rank
	}
	answered := around.hasAnswer(source, relation)
	if rank > int64(s.K) || !s.drawsQuery(source, relation, answered) || !s.Keeps(o.Fact, rank) {
		return 0
	}
	weight := 1
	if !answered {
		weight *= s.QueryDivisor
	}
	if rank > first {
		weight *= s.CandidateDivisor
	}
	return weight
}

// Draw returns the facts that are to be labeled, ordered: drawn from all facts of the graph or, where held is not
// empty, those first, filled up by others to heldOutFirst. held are facts of the graph that training did not see,
// chosen at random; which facts a dataset's authors held out says nothing of which are missing.
func (s Sample) Draw(held []graph.Fact, all iter.Seq[graph.Fact]) []Drawn {
	if len(held) == 0 {
		return drawn(s.lowest(s.Facts, all), false)
	}
	first := s.lowest(s.Facts, slices.Values(held))
	is := make(map[graph.Fact]bool, len(held))
	for _, f := range held {
		is[f] = true
	}
	others := s.lowest(min(s.Facts, heldOutFirst)-len(first), func(yield func(graph.Fact) bool) {
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

// Enough reports whether a model can be fitted to drawn facts of a number of relations, if all of them are among the
// best answers of their queries.
func Enough(facts []Drawn, relations int) bool {
	counts := make([]int, relations)
	for _, f := range facts {
		counts[f.Relation]++
	}
	claimed := 0
	for _, n := range counts {
		if n >= minClaim {
			claimed += n
		}
	}
	return claimed >= minLabeled
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
	var kept []keyed
	isCut := false // then the first ones are in order, and no later one of a key above theirs is kept
	for f := range facts {
		k := keyed{s.key(f), f}
		if isCut && k.compare(kept[most-1]) >= 0 {
			continue
		}
		if kept = append(kept, k); len(kept) >= 2*most+1024 {
			slices.SortFunc(kept, keyed.compare)
			kept, isCut = kept[:most], true
		}
	}
	slices.SortFunc(kept, keyed.compare)
	kept = kept[:min(most, len(kept))]
	list := make([]graph.Fact, len(kept))
	for i, k := range kept {
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

// Facts returns the facts of a graph, by tail, head and relation, except from an entity to itself: no query has its
// source among its new answers, so that nothing is known of how many of these are missing.
func Facts(g *graph.Graph) iter.Seq[graph.Fact] {
	return func(yield func(graph.Fact) bool) {
		for tail := range int32(g.Entities) {
			senders, relations := g.In(tail)
			for i, r := range relations {
				if int(r) < g.BaseRelations && senders[i] != tail && !yield(graph.Fact{Head: senders[i], Relation: r, Tail: tail}) {
					return
				}
			}
		}
	}
}
