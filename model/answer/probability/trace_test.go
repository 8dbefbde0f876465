package probability

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/graph"
)

// TestNoFeatureTellsHowObservationsAreMade removes half of the facts of graphs without any structure, chosen at random,
// and observes the others, each without itself, and the removed ones, with equal scores and ranks: within a relation
// no feature may tell one kind from the other better than kinds that are shuffled.
func TestNoFeatureTellsHowObservationsAreMade(t *testing.T) {
	t.Parallel()
	const entities, graphs = 120, 20
	random := rand.New(rand.NewPCG(8, 8))
	for _, size := range []int{30, 120, 1000} { // of a relation, beside two others
		var excess [len(features)][3]float64 // of a threshold, of equal values, and of the area
		for range graphs {
			facts := randomFacts(entities, 3, 300, random)
			for len(facts) < 300+size {
				facts = append(facts, graph.Fact{Head: random.Int32N(entities), Relation: 3, Tail: random.Int32N(entities)})
			}
			slices.SortFunc(facts, graph.Fact.Compare)
			facts = slices.Compact(facts)
			random.Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
			stated := len(facts) / 2
			s := NewSurroundings(newGraph(t, entities, 4, facts[:stated]))
			var rows []row
			var labeled []bool
			for i, f := range facts {
				if f.Relation == 3 {
					rows = append(rows, s.features(&Observation{Fact: f, Tails: Side{Rank: 1}, Heads: Side{Rank: 1}, Hops: 2}, 10))
					labeled = append(labeled, i < stated)
				}
			}
			for _, sign := range []float64{1, -1} {
				for f := range features {
					for i, x := range telling(rows, labeled, f) {
						excess[f][i] += sign * x / graphs
					}
				}
				random.Shuffle(len(labeled), func(i, j int) { labeled[i], labeled[j] = labeled[j], labeled[i] })
			}
		}
		for f, of := range excess {
			if !(of[0] <= .15 && of[1] <= .3 && math.Abs(of[2]) <= .1) {
				t.Errorf("%d facts: %q tells kinds apart by %.2f more than chance with a threshold, %.2f by equal values; the area differs by %.2f",
					size, features[f].name, of[0], of[1], of[2])
			}
		}
	}
}

// telling returns how well a feature tells labeled observations from others: the largest difference of both
// distributions below a threshold (Kolmogorov and Smirnov), the total variation of equal values, and the
// probability that a labeled one has the higher value.
func telling(rows []row, labeled []bool, f int) [3]float64 {
	var n [2]float64 // others, labeled
	counts := map[float64][2]float64{}
	for i := range rows {
		x, kind := math.Round(rows[i][f]*1e9), 0
		if labeled[i] {
			kind = 1
		}
		c := counts[x]
		c[kind]++
		counts[x] = c
		n[kind]++
	}
	var values []float64
	for x := range counts {
		values = append(values, x)
	}
	slices.Sort(values)
	var below [2]float64
	var told [3]float64
	for _, x := range values {
		a, b := counts[x][0]/n[0], counts[x][1]/n[1]
		told[2] += b * (below[0] + a/2)
		below[0], below[1] = below[0]+a, below[1]+b
		told[0] = max(told[0], math.Abs(below[0]-below[1]))
		told[1] += math.Abs(a-b) / 2
	}
	return told
}
