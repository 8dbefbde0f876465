package distances

import (
	"errors"
	"fmt"
	"slices"

	"tagnet/model/budget"
)

// maxWords is how many words of sources are searched together, where memory allows: edges are
// read once for all of them.
const maxWords = 8

// targetKeys is how many pairs of a block and a range there are, where memory allows: what can be
// worked on at a time. More ranges than that would send more, since each sends its own rows.
const targetKeys = 32

// Bounds of the edges that a thread has in memory: more merges more of what it sends.
const (
	minChunkBytes = 1 << 20
	maxChunkBytes = 256 << 20
)

// runs are the bounds that may be tried, better ones first: those that take no more than a
// quarter of the budget, each thread having two while one grows, larger ones first.
func runs(bytes int64, cores int) []int64 {
	var list []int64
	for run := int64(minChunkBytes); run <= maxChunkBytes; run *= 2 {
		list = append(list, run)
	}
	slices.Reverse(list)
	large := func(run int64) bool { return run > (bytes-budget.Base)/8/int64(cores) }
	slices.SortStableFunc(list, func(a, b int64) int {
		switch {
		case large(a) == large(b):
			return 0
		case large(a):
			return 1
		}
		return -1
	})
	return list
}

// Plan chooses Ranges, Words, ChunkBytes, CacheBytes and Threads by a budget of bytes, and how many
// blocks of sources are searched in one go: all of them, unless Beam's local runner is to have
// what crosses a barrier in its memory. Where a budget is too small the error is a
// budget.TooSmall with the least that would do.
func (p JoinParams) Plan(s Size, bytes int64, cores int, local bool) (planned JoinParams, blocks int, err error) {
	var least *budget.TooSmall
	for _, p.ChunkBytes = range runs(bytes, cores) {
		for p.Words = maxWords; p.Words > 0; p.Words /= 2 {
			for _, p.Ranges = range ranges(p.Entities, p.blocks()) {
				if local && p.Barrier(p.Words, s.Edges) > maxBarrierBytes {
					continue
				}
				share, err := p.Need(s, p.Words, local).Divide(bytes, 0, cores)
				var small *budget.TooSmall
				switch {
				case err == nil:
					p.Threads = share.Threads
					p.CacheBytes = p.keep(s, bytes, local)
					return p, p.wave(s, bytes, local), nil
				case errors.As(err, &small) && (least == nil || small.Least < least.Least):
					least = small
				}
			}
		}
	}
	if least == nil {
		return p, 0, fmt.Errorf("a round over %d entities and %d edges sends more than the %d MB that Beam's local runner takes: give another --runner", s.Entities, s.Edges, maxBarrierBytes>>20)
	}
	return p, 0, least
}

// ranges are the numbers of ranges that may be tried, better ones first: fewer send less, more
// have less of each in memory.
func ranges(entities, blocks int) []int {
	const leastEntities = 1 << 10
	good := (targetKeys + blocks - 1) / blocks
	var list []int
	for n := good; n <= max(good, entities/leastEntities); n *= 2 {
		list = append(list, min(n, entities))
	}
	for n := good / 2; n > 0; n /= 2 {
		list = append(list, min(n, entities))
	}
	return slices.Compact(list)
}

// fits tells whether a budget holds the plan for so many words of sources at a time.
func (p JoinParams) fits(s Size, bytes int64, words int, local bool) bool {
	_, err := p.Need(s, words, local).Divide(bytes, p.Threads, p.Threads)
	return err == nil && (!local || p.Barrier(words, s.Edges) <= maxBarrierBytes)
}

// keep is how much of the edges stays in memory from round to round: all, or a part of them.
func (p JoinParams) keep(s Size, bytes int64, local bool) int64 {
	all := chunkBytes(s.Edges, s.Entities+int64(p.Ranges))
	for p.CacheBytes = all; p.CacheBytes > all/16; p.CacheBytes /= 2 {
		if p.fits(s, bytes, p.Words, local) {
			return p.CacheBytes
		}
	}
	return 0
}

// wave is how many blocks are searched in one go.
func (p JoinParams) wave(s Size, bytes int64, local bool) int {
	if !local {
		return p.blocks()
	}
	wave := 1
	for wave < p.blocks() && p.fits(s, bytes, (wave+1)*p.Words, local) {
		wave++
	}
	return wave
}
