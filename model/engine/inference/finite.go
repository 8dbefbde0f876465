package inference

import (
	"errors"
	"fmt"
	"math"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
)

// ErrNotFinite is the error of scores that no order of answers can be made of.
var ErrNotFinite = errors.New("the weights are not finite, or so large that scores overflow, as after a training that diverged; use another checkpoint")

// NotFinite returns the error, which wraps ErrNotFinite, of a query some of whose scores are NaN or infinite. Whoever
// computes scores returns it, on the CPU and on a device, so that nothing else meets such a score.
func NotFinite(source, relation int32, bad, all int) error {
	q := graph.Query{Source: source, Relation: relation, Answer: graph.None}
	return &graph.QueryError{Doing: "scoring", Query: q, Err: fmt.Errorf("%d of %d scores are NaN or infinite: %w", bad, all, ErrNotFinite)}
}

// checkFinite returns nil if all scores of a query are finite, else NotFinite.
func checkFinite(source, relation int32, scores []float32) error {
	if kernel.Finite(scores) {
		return nil
	}
	bad := 0
	for _, score := range scores {
		if s := float64(score); math.IsNaN(s) || math.IsInf(s, 0) {
			bad++
		}
	}
	return NotFinite(source, relation, bad, len(scores))
}
