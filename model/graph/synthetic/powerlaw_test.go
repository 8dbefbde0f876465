package synthetic

import (
	"math"
	"slices"
	"testing"
)

// TestDegreesFollowThePowerLaw compares how degrees fall by rank with the law, over two orders of magnitude.
func TestDegreesFollowThePowerLaw(t *testing.T) {
	t.Parallel()
	for _, exponent := range []float64{2.3, 2.5, 3} {
		const entities, facts = 20_000, 200_000
		law := NewPowerLaw(entities, 1000, exponent, 1)
		outgoing, incoming := make([]int, entities), make([]int, entities)
		for range facts {
			f := law.Next()
			outgoing[f.Head]++
			incoming[f.Tail]++
		}
		if slices.Equal(outgoing, incoming) || slices.Index(outgoing, slices.Max(outgoing[1:])) == slices.Index(incoming, slices.Max(incoming[1:])) {
			t.Errorf("exponent %v: heads and tails have the same hubs", exponent)
		}
		for name, degrees := range map[string][]int{"outgoing": outgoing, "incoming": incoming} {
			slices.SortFunc(degrees, func(a, b int) int { return b - a })
			// Of the k largest degrees the least is proportional to k^(-1/(exponent-1)).
			slope := math.Log(float64(degrees[1000])/float64(degrees[20])) / math.Log(1001.0/21)
			if want := -1 / (exponent - 1); !(math.Abs(slope-want) <= 0.1*math.Abs(want)) {
				t.Errorf("exponent %v, %s: degrees fall as rank to %.3f, want %.3f", exponent, name, slope, want)
			}
		}
	}
}
