package rules

import (
	"cmp"
	"slices"
)

const (
	// leastOfThree is the least number of facts of a relation that has rules of three steps,
	// mostOfThree the most of them.
	leastOfThree, mostOfThree = 150, 25
	// Bodies are found from about sampleFacts of a relation and at most mostFound edges around them. The
	// mostCounted best are counted from about sampleHeads, and those that remain from all where the heads of all
	// relations are at most fewHeads.
	sampleFacts, mostFound, mostCounted, sampleHeads, fewHeads = 40, 1 << 18, 100, 100, 30_000
)

// threeSteps returns the rules of a relation whose bodies have three steps. Of heads without an answer
// it counts no pairs.
func (x *index) threeSteps(r int32) (found []Rule) {
	if x.facts[r] < leastOfThree {
		return nil
	}
	every := 1 + len(x.heads[r])/sampleHeads
	heads := slices.DeleteFunc(slices.Clone(x.heads[r]), func(head int32) bool { return !sampled(every, uint64(head)) })
	for _, body := range x.bodies(r) {
		t := x.count(heads, r, body, leastConfidence)
		if rule := (Rule{r, body, t.support, t.cases, t.cases, every}); x.keeps(rule) {
			found = append(found, rule)
		}
	}
	found = x.best(found)
	all := 0
	for _, heads := range x.heads[:x.BaseRelations] {
		all += len(heads)
	}
	if every == 1 || all > fewHeads {
		return found
	}
	for i, rule := range found {
		if t := x.count(x.heads[r], r, rule.Body, 0); t.cases > 0 {
			found[i] = Rule{r, rule.Body, t.support, t.cases, t.cases, 1}
		}
	}
	return x.best(slices.DeleteFunc(found, func(r Rule) bool { return !x.keeps(r) }))
}

// best returns the best rules of three steps, in order. Those of few cases are doubted.
func (x *index) best(found []Rule) []Rule {
	doubted := func(r Rule) float64 { return float64(r.Support) / float64(r.Cases+5) }
	slices.SortStableFunc(found, func(a, b Rule) int { return cmp.Compare(doubted(b), doubted(a)) })
	return found[:min(len(found), mostOfThree)]
}

// bodies returns the bodies of three steps that join the most of some facts of a relation, for the number of pairs that
// such a body joins on average.
func (x *index) bodies(r int32) (best [][]int32) {
	times, edges := map[[3]int32]int{}, 0
	for _, head := range x.heads[r] {
		for _, tail := range x.answers(head, r) {
			if sampled(1+x.facts[r]/sampleFacts, uint64(head), uint64(tail)) && edges < mostFound {
				edges += x.join(head, tail, times)
			}
		}
	}
	value := map[[3]int32]float64{}
	for body, n := range times {
		if n < 2 {
			continue
		}
		value[body] = float64(n)
		for _, b := range body {
			value[body] *= float64(len(x.heads[b])) / float64(x.facts[b])
		}
		best = append(best, body[:])
	}
	slices.SortFunc(best, func(a, b []int32) int {
		return cmp.Or(cmp.Compare(value[[3]int32(b)], value[[3]int32(a)]), slices.Compare(a, b))
	})
	return best[:min(len(best), mostCounted)]
}

// join counts each body of three steps that joins a head and a tail, and returns the number of edges that it looked at.
func (x *index) join(head, tail int32, times map[[3]int32]int) (edges int) {
	last := map[int32][]int32{} // the last relations, by the entity before
	senders, entering := x.In(tail)
	for i, o := range senders {
		if o != head && o != tail {
			last[o] = append(last[o], entering[i])
		}
	}
	edges = len(senders)
	found, all := map[[3]int32]bool{}, int32(x.RelationCount())
	first, middles := x.leaving(head, 0, all)
	for i, m := range middles {
		if m == tail || edges > mostFound {
			continue
		}
		second, ends := x.leaving(m, 0, all)
		edges += len(ends)
		for j, o := range ends {
			for _, third := range last[o] {
				found[[3]int32{first[i], second[j], third}] = true
			}
		}
	}
	for body := range found {
		times[body]++
	}
	return edges + len(found)
}
