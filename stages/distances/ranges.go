package distances

import (
	"fmt"

	"tagnet/formats/storage"
)

// SourcesPerWord is how many sources share a machine word: what crosses a barrier is rows of an
// entity and such a word.
const SourcesPerWord = 64

// JoinParams says what Join needs beside SearchParams, since no worker loads the graph. The
// number of ranges, of words and the bytes change no byte of what is written.
type JoinParams struct {
	SearchParams
	// Entities is the number V of entities.
	Entities int
	// Edges are the shards of the graph's edges, in order: shard k has those that lead to the
	// k-th of equal ranges of entities.
	Edges []EdgeShard
	// Sources is how many there are in all, PerFile how many a table has, as Cut says.
	Sources, PerFile int
	// Ranges is the number of equal ranges of entities that are searched apart, 1 to V, and
	// Words how many words of sources are searched together in each; at least 1.
	Ranges, Words int
	// RunBytes bounds the edges that a thread has in memory at a time, KeptBytes those that a
	// process keeps from one round to the next.
	RunBytes, KeptBytes int64
}

// EdgeShard is a file of edges with the hash of its content.
type EdgeShard struct{ URL, SHA256 string }

// first is the first entity of the k-th of n equal ranges of the entities.
func (p JoinParams) first(k, n int) int32 {
	return int32((int64(k)*int64(p.Entities) + int64(n) - 1) / int64(n))
}

// Range is the entities from..to-1 of the k-th range.
func (p JoinParams) Range(k int) (from, to int32) {
	return p.first(k, p.Ranges), p.first(k+1, p.Ranges)
}

// widest is the most entities of a range.
func (p JoinParams) widest() int { return (p.Entities + p.Ranges - 1) / p.Ranges }

// A block is the sources that are searched together: Words words of them, but for the last.
func (p JoinParams) block() int { return p.Words * SourcesPerWord }

// blocks is how many blocks there are.
func (p JoinParams) blocks() int { return (p.Sources + p.block() - 1) / p.block() }

// sourcesOf are the places of a block's sources among all, from..to-1.
func (p JoinParams) sourcesOf(block int) (from, to int) {
	return block * p.block(), min((block+1)*p.block(), p.Sources)
}

// key is that of a block and a range, and blockAndRange the other way round.
func (p JoinParams) key(block, of int) int { return block*p.Ranges + of }

func (p JoinParams) blockAndRange(key int) (block, of int) { return key / p.Ranges, key % p.Ranges }

// bytesPerPart bounds the distances that are put together at a time, a byte each.
const bytesPerPart = 8 << 20

// part is the places from..to-1 of sources whose rows are put together and written as a file, of
// which tables are made. No part is in two blocks or two tables.
type part struct{ from, to int }

// parts cuts the sources at places from..to-1, which are of one block.
func (p JoinParams) parts(from, to int) []part {
	rows := max(1, bytesPerPart/p.Entities)
	var parts []part
	for from < to {
		end := min(to, from+rows, (from/p.PerFile+1)*p.PerFile)
		parts = append(parts, part{from, end})
		from = end
	}
	return parts
}

// partsOf are those of a table, in order.
func (p JoinParams) partsOf(table int) []part {
	var parts []part
	from, to := table*p.PerFile, min((table+1)*p.PerFile, p.Sources)
	for block := from / p.block(); block < p.blocks() && block*p.block() < to; block++ {
		first, last := p.sourcesOf(block)
		parts = append(parts, p.parts(max(first, from), min(last, to))...)
	}
	return parts
}

// PartsFolder is the folder below that of the tables which takes the parts until Tables has
// made tables of them.
const PartsFolder = "parts"

// partURL is the file of the part that begins at a place.
func (p JoinParams) partURL(from int) string {
	return storage.Join(p.Folder, PartsFolder, fmt.Sprintf("part-%010d.arrow", from))
}
