package rules

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
)

const (
	// mirrored is the least confidence of both rules of a Mirror.
	mirrored = .6
	// leastMirrored is the least support of a Mirror.
	leastMirrored = 10
)

// Mirror is a pair of rules in one step that imply each other: (h, Relation, t) if (t, Other, h), and the reverse.
// Other is Relation itself where that is symmetric. Each pair of different relations is two mirrors.
type Mirror struct {
	// Relation and Other are no inverses.
	Relation, Other int32
	// Support is the number of facts of Relation whose mirror, of Other, is a fact, Facts the number of all, and
	// OtherFacts that of Other. Facts of an entity with itself do not count.
	Support, Facts, OtherFacts int
}

// Confidence returns the lower confidence of both rules, or 0 if they are no mirror.
func (m Mirror) Confidence() float64 {
	c := float64(m.Support) / float64(max(m.Facts, m.OtherFacts))
	if m.Support < leastMirrored || !(c >= mirrored) {
		return 0
	}
	return c
}

// Without returns the mirror if a fact of Relation that has a mirror were not stated. Its confidence may be 0.
func (m Mirror) Without() Mirror {
	if m.Relation == m.Other {
		m.Support, m.OtherFacts = m.Support-1, m.OtherFacts-1
	}
	m.Support, m.Facts = m.Support-1, m.Facts-1
	return m
}

// TrueIfMissing returns the share of the mirrors that are not stated which are true, if as many are missing as of other
// facts of Relation, a share of these: at most 1.
func (m Mirror) TrueIfMissing(share float64) float64 {
	return min(1, share*float64(m.Support)/float64(m.Missing()))
}

// Missing returns the number of facts of Other whose mirror, of Relation, is not stated.
func (m Mirror) Missing() int { return m.OtherFacts - m.Support }

// Mirrors returns the mirrors of a graph, by Relation and Other: both rules have a confidence of .6 and more, and a
// support of at least 10.
func Mirrors(g *graph.Graph) []Mirror {
	facts, supports := make([]int, g.BaseRelations), map[[2]int32]int{}
	for tail := range int32(g.Entities) {
		senders, relations := g.In(tail)
		for from := 0; from < len(senders); {
			to := from
			for to < len(senders) && senders[to] == senders[from] {
				to++
			}
			// The relations of a pair ascend, and inverses are last.
			between := relations[from:to]
			inverse, _ := slices.BinarySearch(between, int32(g.BaseRelations))
			if senders[from] != tail {
				for _, r := range between[:inverse] {
					facts[r]++
					for _, q := range between[inverse:] {
						supports[[2]int32{r, g.Inverse(q)}]++
					}
				}
			}
			from = to
		}
	}
	var mirrors []Mirror
	for pair, support := range supports {
		m := Mirror{Relation: pair[0], Other: pair[1], Support: support, Facts: facts[pair[0]], OtherFacts: facts[pair[1]]}
		if m.Confidence() > 0 {
			mirrors = append(mirrors, m)
		}
	}
	slices.SortFunc(mirrors, func(a, b Mirror) int {
		return cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Other, b.Other))
	})
	return mirrors
}
