package verdicts

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Listed is a fact with its probability.
type Listed struct {
	Fact
	Probability float64
}

// Drawn is a fact of a sample, with its Verdict.Weight.
type Drawn struct {
	Listed
	Weight float64
	key    float64 // by which a sample is in order
}

// Sample returns listed facts that nobody judged in an order of which every beginning is a sample that tells much
// about how many facts are missing. They are drawn by their keys, with chances that are proportional to how much
// each tells (sequential Poisson sampling: Ohlsson, Journal of Official Statistics 14, 1998), less for one of a
// relation that has many.
func Sample(list []Listed, judged map[Fact]Verdict, seed int64) []Drawn {
	of := map[string]float64{}
	for _, f := range list {
		of[f.Relation]++
	}
	var drawn []Drawn
	for _, f := range list {
		if _, done := judged[f.Fact]; !done {
			size := tells(f.Probability) / math.Pow(of[f.Relation], .25)
			drawn = append(drawn, Drawn{f, 1 / size, uniform(f.Fact, seed) / size})
		}
	}
	slices.SortStableFunc(drawn, func(a, b Drawn) int { return cmp.Compare(a.key, b.key) })
	return drawn
}

// tells is proportional to how much the verdict on a fact of a probability tells: the root of its information on the
// logarithm of a share to which the probability is proportional. No fact tells nothing, as probabilities may be wrong.
func tells(p float64) float64 { return min(max(math.Sqrt(p/(1-p)), .05), 3) }

// uniform returns a number between 0 and 1 by the key of a fact.
func uniform(f Fact, seed int64) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%s", seed, f.Head, f.Relation, f.Tail))
	return (float64(binary.BigEndian.Uint64(sum[:])>>11) + .5) / (1 << 53)
}
