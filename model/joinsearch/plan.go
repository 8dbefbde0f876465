package joinsearch

import (
	"errors"
	"slices"

	"tagnet/formats/remedy"
	"tagnet/model/budget"
)

// maxWords is the most words of sources that are searched together. Edges are read once for all of
// them.
const maxWords = 8

// targetKeys is the number of pairs of a block and a range to aim for; each can be processed by its own
// worker. More ranges would send more, because each sends its own rows.
const targetKeys = 32

// Limits of the edges that a thread has in memory. With more, it merges more of what it sends.
const (
	minChunkBytes = 1 << 20
	maxChunkBytes = 256 << 20
)

// maxBarrierBytes is the limit for the bytes that a round sends with Beam's local runner.
const maxBarrierBytes = 500 << 20

// Plan chooses Ranges, Words, ChunkBytes, CacheBytes and Threads by a budget of bytes, and how many
// Blocks of sources are searched in one pipeline: all of them, unless Beam's local runner keeps a round
// in the memory of this process. It takes the first choice that fits, in the order of fewest rounds
// of reading and least data sent. Where none fits the error is a *budget.TooSmall with the least
// that fits.
func (l Layout) Plan(s budget.Sizes, bytes int64, cores int, local bool) (planned Layout, threads, blocks int, err error) {
	var least *budget.TooSmall
	for _, l.ChunkBytes = range chunkSizes(bytes, cores) {
		for l.Words = maxWords; l.Words > 0; l.Words /= 2 {
			for _, l.Ranges = range ranges(l.Entities, l.Blocks()) {
				if local && l.Barrier(l.Words, s.Edges) > maxBarrierBytes {
					continue
				}
				plan, err := l.estimate(s, l.Words, local).Plan(bytes, 0, cores)
				var small *budget.TooSmall
				switch {
				case err == nil:
					l.CacheBytes = min(chunkBytes(s.Edges, s.Entities+int64(l.Ranges)), plan.Spare())
					return l, plan.Threads, l.perPipeline(s, bytes, plan.Threads, local), nil
				case errors.As(err, &small) && (least == nil || small.Least < least.Least):
					least = small
				}
			}
		}
	}
	if least == nil {
		return l, 0, 0, remedy.Errorf("give another --runner", "a round over %d entities and %d edges sends more than the %d MB limit of Beam's local runner", s.Entities, s.Edges, maxBarrierBytes>>20)
	}
	return l, 0, 0, least
}

// chunkSizes lists the values of ChunkBytes to try: the largest first of those that take at most a
// quarter of the budget, a thread having two while one grows, and then larger ones.
func chunkSizes(bytes int64, cores int) []int64 {
	var list []int64
	for n := int64(minChunkBytes); n <= maxChunkBytes; n *= 2 {
		list = append(list, n)
	}
	larger, _ := slices.BinarySearch(list, (bytes-budget.Base)/8/int64(cores)+1)
	slices.Reverse(list[:larger])
	return list
}

// ranges lists the numbers of ranges to try, better ones first: fewer send less, more have less of
// each in memory.
func ranges(entities, blocks int) []int {
	const minEntities = 1 << 10
	good := (targetKeys + blocks - 1) / blocks
	var list []int
	for n := good; n <= max(good, entities/minEntities); n *= 2 {
		list = append(list, min(n, entities))
	}
	for n := good / 2; n > 0; n /= 2 {
		list = append(list, min(n, entities))
	}
	return slices.Compact(list)
}

// estimate bounds the memory of a worker that searches a number of words of sources in one pipeline. With
// Beam's local runner it includes the rows of a round that the runner holds.
func (l Layout) estimate(s budget.Sizes, words int, local bool) budget.Estimate {
	n := int64(l.maxRange())
	j := budget.Joining{
		EntitiesPerRange: n, Words: int64(l.Words),
		EdgeBytes: min(l.ChunkBytes, chunkBytes(s.Edges, n)), CachedBytes: l.CacheBytes, PartBytes: maxSpanBytes,
	}
	if local {
		j.InRunner = l.Barrier(words, s.Edges)
	}
	return budget.Join(s, j)
}

// perPipeline returns how many blocks one pipeline searches.
func (l Layout) perPipeline(s budget.Sizes, bytes int64, threads int, local bool) int {
	if !local {
		return l.Blocks()
	}
	perPipeline := 1
	for perPipeline < l.Blocks() {
		words := (perPipeline + 1) * l.Words
		if _, err := l.estimate(s, words, local).Plan(bytes, threads, threads); err != nil || l.Barrier(words, s.Edges) > maxBarrierBytes {
			break
		}
		perPipeline++
	}
	return perPipeline
}

// chunkEdges returns the most edges of a chunk.
func (l Layout) chunkEdges() int64 {
	return max(1, (l.ChunkBytes-chunkBytes(0, int64(l.maxRange())))/4)
}

// Barrier bounds the bytes that a round sends for so many words of sources: 13 for each entity
// and word that a chunk of edges leads to, 37 for each that is reached. There are as many chunks as
// ranges, or more where a range's edges exceed ChunkBytes.
func (l Layout) Barrier(words int, edges int64) int64 {
	const element = 1 << 10 // beside its rows
	v, ranges := int64(l.Entities), int64(l.Ranges)
	chunks := ranges + edges/l.chunkEdges()
	elements := int64((words+l.Words-1)/l.Words) * chunks * (ranges + 1)
	return int64(words)*(frontierRow*min(edges, chunks*v)+stateRow*v) + elements*element
}
