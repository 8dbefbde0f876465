package rules

import (
	"context"
	"slices"
	"sync"

	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// mostPaths bounds the paths of two steps that are followed: where a graph has more, those of one in some heads.
// mostBytes bounds the buffers of all threads.
const mostPaths, mostBytes = 4e8, 192 << 20

// Mine finds the rules of a graph, on some threads. Equal graphs have equal rules. progress, unless nil, is called
// after each of total parts of the work, one call at a time.
func Mine(ctx context.Context, g *graph.Graph, threads int, progress func(done, total int)) (*Rules, error) {
	x, paths := newIndex(g), 0.
	for v := range g.Entities {
		degree := float64(x.offsets[v+1] - x.offsets[v])
		paths += degree * degree
	}
	all, threads := g.RelationCount(), max(1, threads)
	block := max(1, min(all, mostBytes/threads/(g.Entities/8+12*g.BaseRelations+8)))
	counters, found := make([]*counter, threads), make([][]Rule, all+1+g.BaseRelations)
	var turn sync.Mutex
	done := 0
	err := parallel.Try(ctx, threads, len(found), func(_ context.Context, worker, task int) error {
		switch {
		case task > all:
			found[task] = x.threeSteps(int32(task - all - 1))
		case counters[worker] == nil:
			counters[worker] = newCounter(x, block)
			fallthrough
		default:
			every := 1 + int(paths/mostPaths)
			if task == all { // one step
				every = 1
			}
			found[task] = counters[worker].rules(int32(task), every)
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
	r := &Rules{FormatVersion: FormatVersion, Relations: g.BaseRelations, Functional: []int32{}, List: []Rule{}}
	for q, functional := range Functional(g) {
		if functional {
			r.Functional = append(r.Functional, int32(q))
		}
	}
	r.List = append(r.List, slices.Concat(found...)...)
	slices.SortFunc(r.List, Rule.compare)
	return r, nil
}

// sampled reports whether a key is one of those that are drawn, one in every.
func sampled(every int, key ...uint64) bool {
	return every == 1 || parallel.Seed(0, key...)%uint64(every) == 0
}

// keeps reports whether a rule is kept.
func (x *index) keeps(r Rule) bool {
	itself := len(r.Body) == 1 && r.Body[0] == r.Relation
	return !itself && r.Support >= leastSupport(x.facts[r.Relation]) && r.Confidence() >= leastConfidence
}

// counter counts the pairs that bodies of one and two steps join, for one thread and the last relations of a block.
type counter struct {
	*index
	block, base int
	// reached are the blocks with a last relation of a body: of many relations, few follow one.
	reached []bool
	// edge is the index of the first edge of the head with each entity that has one.
	edge []int32
	// seen has a bit by last relation and entity: such a path has joined the head with it.
	seen []uint64
	// By last relation: pairs of the head, and of all heads; by base relation, too: supports and cases.
	ofHead, pairs, support, cases []int32
	touched                       []int32 // last relations with pairs of the head
	counted                       []int32 // indices of cases that are not 0: few, where a graph has many relations
}

func newCounter(x *index, block int) *counter {
	base := x.BaseRelations
	return &counter{
		index: x, block: block, base: base, reached: make([]bool, 2*base/block+1), edge: make([]int32, x.Entities),
		seen: make([]uint64, block*x.Entities/64+1), ofHead: make([]int32, block),
		pairs: make([]int32, block), support: make([]int32, block*base), cases: make([]int32, block*base),
	}
}

// rules returns the rules whose bodies have two steps, the first one given, or one step with the number of relations.
func (c *counter) rules(first int32, every int) (found []Rule) {
	all := c.RelationCount()
	clear(c.reached)
	c.each(first, every, func(_ int32, middles []int32) {
		for _, m := range middles {
			for _, r := range c.relations[c.offsets[m]:c.offsets[m+1]] {
				c.reached[int(r)/c.block] = true
			}
		}
	})
	for from := 0; from < all; from += c.block {
		if !c.reached[from/c.block] {
			continue
		}
		to := min(from+c.block, all)
		c.each(first, every, func(x int32, middles []int32) { c.add(x, middles, int32(from), int32(to)) })
		for _, at := range c.counted {
			b, r, support := int(at)/c.base, int(at)%c.base, int(c.support[at])
			if support >= leastSupport(0) {
				rule := Rule{int32(r), []int32{first, int32(from + b)}, support, int(c.pairs[b]), int(c.cases[at]), every}
				if int(first) == all {
					rule.Body = rule.Body[1:]
				}
				if c.keeps(rule) {
					found = append(found, rule)
				}
			}
			c.support[at], c.cases[at] = 0, 0
		}
		c.counted = c.counted[:0]
		clear(c.pairs)
	}
	slices.SortFunc(found, Rule.compare)
	return found
}

// each calls visit for each head of the bodies with a first relation, with the entities between their steps.
func (c *counter) each(first int32, every int, visit func(x int32, middles []int32)) {
	for _, x := range c.heads[first] {
		if !sampled(every, uint64(x)) {
			continue
		}
		middles := []int32{x}
		if int(first) < c.RelationCount() {
			middles = c.answers(x, first)
		}
		visit(x, middles)
	}
}

// add counts the pairs of a head by paths through one of some middles and a relation of a block.
func (c *counter) add(x int32, middles []int32, from, to int32) {
	paths := 0
	for _, m := range middles {
		relations, _ := c.leaving(m, from, to)
		paths += len(relations)
	}
	if paths == 0 {
		return
	}
	senders, entering := c.In(x)
	linked := senders
	if 8*paths < len(senders) { // then a fact is searched for
		linked = nil
	}
	for i := len(linked) - 1; i >= 0; i-- {
		c.edge[senders[i]] = int32(i)
	}
	for _, m := range middles {
		relations, ends := c.leaving(m, from, to)
		for i, y := range ends {
			b := int(relations[i] - from)
			at := b*c.Entities + int(y)
			if y == x || c.seen[at/64]>>(at%64)&1 != 0 {
				continue
			}
			c.seen[at/64] |= 1 << (at % 64)
			if c.ofHead[b]++; c.ofHead[b] == 1 {
				c.touched = append(c.touched, int32(b))
			}
			j := int(c.edge[y])
			if linked == nil {
				j, _ = slices.BinarySearch(senders, y)
			}
			for ; j < len(senders) && senders[j] == y; j++ {
				if r := int(entering[j]) - c.base; r >= 0 {
					c.support[b*c.base+r]++
				}
			}
		}
	}
	answered, _ := c.leaving(x, 0, int32(c.base))
	answered = slices.Compact(slices.Clone(answered))
	for _, b := range c.touched {
		for _, r := range answered {
			at := b*int32(c.base) + r
			if c.cases[at] == 0 {
				c.counted = append(c.counted, at)
			}
			c.cases[at] += c.ofHead[b]
		}
		c.pairs[b] += c.ofHead[b]
		c.ofHead[b] = 0
	}
	c.touched = c.touched[:0]
	for _, m := range middles {
		relations, ends := c.leaving(m, from, to)
		for i, y := range ends {
			c.seen[(int(relations[i]-from)*c.Entities+int(y))/64] = 0
		}
	}
}
