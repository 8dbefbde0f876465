package bundle

import (
	"tagnet/model/multisource"
	"tagnet/stages/distances"
)

// bytesOfSearch bounds the searcher of a thread, which on large graphs takes fewer sources at once,
// never fewer than 64: bundling shares its memory with what the bundles are for.
const bytesOfSearch = 8 << 20

// Memory bounds the bytes that bundling holds of a split beside its bundles: 24 a query and 48 a
// question (as many as queries at most), twice while they are cut, and for each thread a search,
// and 2 an entity to read tables.
func Memory(queries int, entities, threads int) int64 {
	return 2*(24+48)*int64(queries) + (memoryOfSearch(int64(entities))+2*int64(entities))*int64(threads)
}

// memoryOfSearch is what a thread takes that searches, for distances or for levels.
func memoryOfSearch(entities int64) int64 {
	most := int64(0)
	for _, gather := range []multisource.Gather{{Distances: true}, {Levels: true}} {
		one := distances.SweepMemory(entities, 1, gather)
		for _, words := range []int{1, 2, 4, 8} {
			if need := distances.SweepMemory(entities, words, gather); need <= bytesOfSearch+entities {
				one = need
			}
		}
		most = max(most, one)
	}
	return most
}
