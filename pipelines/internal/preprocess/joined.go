package preprocess

import (
	"fmt"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/pipelines/internal/cli/progress"
)

// mostPairs bounds the pairs of entities that are searched.
const mostPairs = 1 << 20

// heldPairs are the pairs of entities of facts, or every stride-th by a hash of theirs, in order.
type heldPairs struct {
	keys   []uint64
	facts  []int64 // of each pair
	joined []bool  // whether the graph has a fact of the pair
	stride uint64
}

func pairKey(a, b int32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// newHeldPairs returns the pairs of the facts of queries, of which there are two for each.
func newHeldPairs(queries []graph.Query) *heldPairs {
	p := &heldPairs{stride: uint64(1 + len(queries)/2/mostPairs)}
	for _, q := range queries {
		if key := pairKey(q.Source, q.Answer); parallel.Mix(key)%p.stride == 0 {
			p.keys = append(p.keys, key)
		}
	}
	slices.Sort(p.keys)
	all := p.keys
	p.keys = slices.Compact(slices.Clone(all))
	p.facts, p.joined = make([]int64, len(p.keys)), make([]bool, len(p.keys))
	at := 0
	for _, key := range all {
		if key != p.keys[at] {
			at++
		}
		p.facts[at]++
	}
	return p
}

// join notes an edge.
func (p *heldPairs) join(a, b int32) {
	if at, found := slices.BinarySearch(p.keys, pairKey(a, b)); found {
		p.joined[at] = true
	}
}

// text says how many of the facts have a pair that the graph joins.
func (p *heldPairs) text() string {
	joined, all, about := int64(0), int64(0), ""
	for i, facts := range p.facts {
		if all += facts; p.joined[i] {
			joined += facts
		}
	}
	if p.stride > 1 {
		about = "about "
	}
	count := func(queries int64) string { return progress.Count(queries / 2 * int64(p.stride)) }
	return fmt.Sprintf("%s%s of %s (%s)", about, count(joined), count(all), percent(float64(joined)/float64(max(1, all))))
}
