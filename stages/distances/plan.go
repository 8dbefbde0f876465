package distances

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
// blocks of sources are searched in one pipeline: all of them, unless Beam's local runner keeps a round
// in the memory of this process. It takes the first choice that fits, in the order of fewest rounds
// of reading and least data sent. Where none fits the error is a *budget.TooSmall with the least
// that fits.
func (p JoinParams) Plan(s budget.Sizes, bytes int64, cores int, local bool) (planned JoinParams, blocks int, err error) {
	var least *budget.TooSmall
	for _, p.ChunkBytes = range chunkSizes(bytes, cores) {
		for p.Words = maxWords; p.Words > 0; p.Words /= 2 {
			for _, p.Ranges = range ranges(p.Entities, p.blocks()) {
				if local && p.Barrier(p.Words, s.Edges) > maxBarrierBytes {
					continue
				}
				plan, err := p.estimate(s, p.Words, local).Plan(bytes, 0, cores)
				var small *budget.TooSmall
				switch {
				case err == nil:
					p.Threads = plan.Threads
					p.CacheBytes = min(chunkBytes(s.Edges, s.Entities+int64(p.Ranges)), plan.Spare())
					return p, p.perPipeline(s, bytes, local), nil
				case errors.As(err, &small) && (least == nil || small.Least < least.Least):
					least = small
				}
			}
		}
	}
	if least == nil {
		return p, 0, remedy.Errorf("give another --runner", "a round over %d entities and %d edges sends more than the %d MB limit of Beam's local runner", s.Entities, s.Edges, maxBarrierBytes>>20)
	}
	return p, 0, least
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
func (p JoinParams) estimate(s budget.Sizes, words int, local bool) budget.Estimate {
	n := int64(p.maxRange())
	j := budget.Joining{
		EntitiesPerRange: n, Words: int64(p.Words),
		EdgeBytes: min(p.ChunkBytes, chunkBytes(s.Edges, n)), CachedBytes: p.CacheBytes, PartBytes: maxSpanBytes,
	}
	if local {
		j.InRunner = p.Barrier(words, s.Edges)
	}
	return budget.Join(s, j)
}

// perPipeline returns how many blocks one pipeline searches.
func (p JoinParams) perPipeline(s budget.Sizes, bytes int64, local bool) int {
	if !local {
		return p.blocks()
	}
	perPipeline := 1
	for perPipeline < p.blocks() {
		words := (perPipeline + 1) * p.Words
		if _, err := p.estimate(s, words, local).Plan(bytes, p.Threads, p.Threads); err != nil || p.Barrier(words, s.Edges) > maxBarrierBytes {
			break
		}
		perPipeline++
	}
	return perPipeline
}

// chunkEdges returns the most edges of a chunk.
func (p JoinParams) chunkEdges() int64 {
	return max(1, (p.ChunkBytes-chunkBytes(0, int64(p.maxRange())))/4)
}

// Barrier bounds the bytes that a round sends for so many words of sources: 13 for each entity
// and word that a chunk of edges leads to, 37 for each that is reached. There are as many chunks as
// ranges, or more where a range's edges exceed ChunkBytes.
func (p JoinParams) Barrier(words int, edges int64) int64 {
	const element = 1 << 10 // beside its rows
	v, ranges := int64(p.Entities), int64(p.Ranges)
	chunks := ranges + edges/p.chunkEdges()
	elements := int64((words+p.Words-1)/p.Words) * chunks * (ranges + 1)
	return int64(words)*(frontierRow*min(edges, chunks*v)+stateRow*v) + elements*element
}
