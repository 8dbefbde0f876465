package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Odds returns a probability as people read it: "about 9 in 10", "about 1 in 50", "under 1 in 1,000"; "" without one.
func Odds(probability *float64) string {
	if probability == nil {
		return ""
	}
	p := *probability
	switch {
	case p < .001:
		return "under 1 in 1,000"
	case p < .095:
		return strings.Replace(fmt.Sprintf("about 1 in %d", nearest(1/p)), "1000", "1,000", 1)
	case p < .945:
		return fmt.Sprintf("about %.0f in 10", 10*p)
	case p < .995:
		return fmt.Sprintf("about %.0f in 100", 100*p)
	}
	return "over 99 in 100"
}

// nearest returns the round number whose ratio to n is nearest to 1.
func nearest(n float64) int {
	ratio := func(r int) float64 { return math.Abs(math.Log(float64(r) / n)) }
	round := []int{10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700, 1000}
	return slices.MinFunc(round, func(a, b int) int { return cmp.Compare(ratio(a), ratio(b)) })
}
