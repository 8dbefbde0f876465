package rules

import (
	"cmp"
	"slices"
)

const (
	// leastOfThree is the least number of facts of a relation that has rules of three steps,
	// mostOfThree the most of them.
	leastOfThree, mostOfThree = 150, 25
	// Bodies are found from about sampleFacts of a relation. The mostCounted that join most of them are counted
	// from about sampleHeads.
	sampleFacts, mostCounted, sampleHeads = 40, 100, 100
	// mostFound bounds the edges that are looked at to find the bodies of a relation, mostFollowed
	// those to count a body.
	mostFound, mostFollowed = 1 << 18, 1 << 14
	// slack is the support that a body may lack at first for the least confidence.
	slack = 20
)

// threeSteps returns the rules of a relation whose bodies have three steps.
func (c *counter) threeSteps(r int32) (found []Rule) {
	if c.facts[r] < leastOfThree {
		return nil
	}
	for _, body := range c.bodies(r) {
		if rule := c.countThree(r, body); c.keeps(rule) {
			found = append(found, rule)
		}
	}
	doubted := func(r Rule) float64 { return float64(r.Support) / float64(r.Cases+5) }
	slices.SortStableFunc(found, func(a, b Rule) int { return cmp.Compare(doubted(b), doubted(a)) })
	return found[:min(len(found), mostOfThree)]
}

// bodies returns the bodies of three steps that join the most of some facts of a relation.
func (c *counter) bodies(r int32) [][]int32 {
	times, work := map[[3]int32]int{}, 0
	for _, x := range c.heads[r] {
		for _, y := range c.answers(x, r) {
			if sampled(1+c.facts[r]/sampleFacts, uint64(x), uint64(y)) && work < mostFound {
				work += c.join(x, y, times)
			}
		}
	}
	var best [][]int32
	for body := range times {
		best = append(best, body[:])
	}
	slices.SortFunc(best, func(a, b []int32) int {
		return cmp.Or(cmp.Compare(times[[3]int32(b)], times[[3]int32(a)]), slices.Compare(a, b))
	})
	return best[:min(len(best), mostCounted)]
}

// join counts each body of three steps that joins two entities, and returns the number of edges that it looked at.
func (c *counter) join(x, y int32, times map[[3]int32]int) (edges int) {
	all := int32(c.RelationCount())
	out, middles := c.leaving(x, 0, all)
	senders, in := c.In(y)
	for i := len(senders) - 1; i >= 0; i-- {
		c.fact[senders[i]] = int32(i) + 1
	}
	found := map[[3]int32]bool{}
	for i, m := range middles {
		if m == y {
			continue
		}
		relations, ends := c.leaving(m, 0, all)
		edges += len(ends)
		for k, o := range ends {
			for j := c.fact[o]; o != x && o != y && j > 0 && int(j) <= len(senders) && senders[j-1] == o; j++ {
				found[[3]int32{out[i], relations[k], in[j-1]}] = true
			}
		}
	}
	for _, o := range senders {
		c.fact[o] = 0
	}
	for body := range found {
		times[body]++
	}
	return edges + len(found)
}

// countThree counts a body of three steps from sampled heads of a relation, whose pairs are all cases. It returns no
// support for a body that takes long, or joins far more pairs than that of a rule that is kept.
func (c *counter) countThree(r int32, body []int32) Rule {
	rule, edges := Rule{Relation: r, Body: body, Every: 1 + len(c.heads[r])/sampleHeads}, 0
	next := func(source, relation int32) []int32 {
		ends := c.answers(source, relation)
		if edges += 1 + len(ends); edges > mostFollowed {
			return nil
		}
		return ends
	}
	for _, x := range c.heads[r] {
		if !sampled(rule.Every, uint64(x)) {
			continue
		}
		ends := ends(next, x, body)
		rule.Cases += len(ends)
		for _, y := range c.answers(x, r) {
			if _, found := slices.BinarySearch(ends, y); found {
				rule.Support++
			}
		}
		if edges > mostFollowed || float64(rule.Support)+slack < leastConfidence*float64(rule.Cases) {
			return Rule{}
		}
	}
	rule.Pairs = rule.Cases
	return rule
}

// ends returns the ends of simple paths along a body from an entity, each once, ascending.
func ends(next func(source, relation int32) []int32, x int32, body []int32) (list []int32) {
	walk(next, append(make([]int32, 0, 4), x), body, func(path []int32) bool {
		list = append(list, path[len(path)-1])
		return true
	})
	slices.Sort(list)
	return slices.Compact(list)
}
