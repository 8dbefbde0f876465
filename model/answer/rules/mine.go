package rules

import (
	"context"
	"slices"
	"sync"

	"tagnet/model/graph"
	"tagnet/model/parallel"
)

const (
	// mostPaths bounds the paths of two steps that are followed: where a graph has more, those of one in some heads.
	mostPaths = 2e9
	// mostBytes bounds the buffers of all threads.
	mostBytes = 192 << 20
)

// Mine finds the rules of a graph, on some threads. Equal graphs have equal rules. progress, unless nil, is called
// after each of total parts of the work, one call at a time.
func Mine(ctx context.Context, g *graph.Graph, threads int, progress func(done, total int)) (*Rules, error) {
	x, paths := newIndex(g), 0.
	for v := range g.Entities {
		degree := float64(x.offsets[v+1] - x.offsets[v])
		paths += degree * degree
	}
	all, threads := int32(g.RelationCount()), max(1, threads)
	block := mostBytes / threads / (4*g.Entities + 8*g.BaseRelations + 8)
	counters := make([]*counter, threads)
	found := make([][]Rule, int(all)+1+g.BaseRelations)
	var turn sync.Mutex
	done := 0
	err := parallel.Try(ctx, threads, len(found), func(_ context.Context, worker, task int) error {
		if counters[worker] == nil {
			counters[worker] = newCounter(x, max(1, min(all, int32(block))))
		}
		switch relation := int32(task); {
		case relation < all:
			found[task] = counters[worker].twoSteps(relation, 1+int(paths/mostPaths))
		case relation == all:
			found[task] = counters[worker].twoSteps(relation, 1)
		default:
			found[task] = counters[worker].threeSteps(relation - all - 1)
		}
		turn.Lock()
		defer turn.Unlock()
		if done++; progress != nil {
			progress(done, len(found))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := &Rules{FormatVersion: FormatVersion, Relations: g.BaseRelations, List: slices.Concat(found...)}
	slices.SortFunc(r.List, Rule.compare)
	return r, nil
}

// sampled reports whether a key is one of those that are drawn, one in every.
func sampled(every int, key ...uint64) bool {
	return every == 1 || parallel.Seed(0, key...)%uint64(every) == 0
}

// counter counts the pairs that bodies join. It is for one thread.
type counter struct {
	*index
	// block is the number of second relations that are counted at a time.
	block int32
	// fact is 1 more than the index of the first fact from the head to each entity, or 0.
	fact []int32
	// seen has by relation of the block and entity the last head that a path ending so has joined, as its stamp.
	seen  []uint32
	stamp uint32
	// By relation of the block: pairs of the head, of all heads, and by base relation the supports and cases.
	ofHead, pairs, support, cases []int32
	touched                       []int32 // relations of the block with pairs of the head
}

func newCounter(x *index, block int32) *counter {
	n, base := int(block), x.BaseRelations
	return &counter{
		index: x, block: block, fact: make([]int32, x.Entities), seen: make([]uint32, n*x.Entities), ofHead: make([]int32, n),
		pairs: make([]int32, n), support: make([]int32, n*base), cases: make([]int32, n*base),
	}
}

// twoSteps returns the rules whose bodies have two steps, the first one given, or the number of relations: then they
// have one step. It counts one in every heads.
func (c *counter) twoSteps(first int32, every int) (found []Rule) {
	all := int32(c.RelationCount())
	for from := int32(0); from < all; from += c.block {
		to := min(from+c.block, all)
		for _, x := range c.heads[first] {
			if !sampled(every, uint64(x)) {
				continue
			}
			middles := []int32{x}
			if first < all {
				middles = c.answers(x, first)
			}
			c.count(x, middles, from, to)
		}
		for b := range to - from {
			found = c.take(found, first, b, from+b, every)
		}
	}
	return found
}

// count counts the pairs of a head by paths through one of some middles and a second relation of a block.
func (c *counter) count(x int32, middles []int32, from, to int32) {
	base := int32(c.BaseRelations)
	senders, entering := c.In(x)
	for i := len(senders) - 1; i >= 0; i-- {
		if entering[i] >= base && senders[i] != x {
			c.fact[senders[i]] = int32(i) + 1
		}
	}
	c.stamp++
	for _, m := range middles {
		relations, ends := c.leaving(m, from, to)
		for i, y := range ends {
			b := relations[i] - from
			seen := &c.seen[int(b)*c.Entities+int(y)]
			if y == x || *seen == c.stamp {
				continue
			}
			*seen = c.stamp
			if c.ofHead[b]++; c.ofHead[b] == 1 {
				c.touched = append(c.touched, b)
			}
			if c.fact[y] > 0 {
				for j := c.fact[y] - 1; int(j) < len(senders) && senders[j] == y; j++ {
					c.support[b*base+entering[j]-base]++
				}
			}
		}
	}
	answered, ends := c.leaving(x, 0, base)
	for _, b := range c.touched {
		for i, r := range answered {
			if i == 0 || answered[i-1] != r {
				c.cases[b*base+r] += c.ofHead[b]
			}
		}
		c.pairs[b] += c.ofHead[b]
		c.ofHead[b] = 0
	}
	c.touched = c.touched[:0]
	for _, y := range ends {
		c.fact[y] = 0
	}
}

// take appends the rules of a body, of which it clears what was counted.
func (c *counter) take(found []Rule, first, b, second int32, every int) []Rule {
	if c.pairs[b] == 0 {
		return found
	}
	support, cases := c.support[int(b)*c.BaseRelations:][:c.BaseRelations], c.cases[int(b)*c.BaseRelations:][:c.BaseRelations]
	for r, n := range support {
		rule := Rule{int32(r), []int32{first, second}, int(n), int(c.pairs[b]), int(cases[r]), every}
		if int(first) == c.RelationCount() {
			rule.Body = rule.Body[1:]
		}
		if n > 0 && c.keeps(rule) {
			found = append(found, rule)
		}
	}
	clear(support)
	clear(cases)
	c.pairs[b] = 0
	return found
}

// keeps reports whether a rule is kept.
func (c *counter) keeps(r Rule) bool {
	itself := len(r.Body) == 1 && r.Body[0] == r.Relation
	return !itself && r.Support >= leastSupport(c.facts[r.Relation]) && r.Confidence() >= leastConfidence
}
