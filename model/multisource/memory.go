package multisource

// Memory is the bytes of a searcher with rows of so many words, beside the graph: for V
// entities, with 64 words sources,
//
//	rows       24 words V       the frontier, what is reached, and what is reached next
//	lists       8 V
//	distances  32 words V       by entity, and as much again by source, packed; V up to the next 128
//	levels     640 KiB at most, and 280 bytes a source
func Memory(entities, words int, gather Gather) int64 {
	total := int64(24*words+8) * int64(entities+1)
	if gather.Distances {
		total += int64(32*words)*perBlock*int64(blocks(entities)) + int64(64*words)*int64(packedStride(entities))
	}
	if gather.Levels {
		total += 640<<10 + int64(64*words)*280
	}
	return total
}

// cache is what a thread may expect of the processor's last cache: a searcher that stays in it
// gains more by that than by rows twice as wide.
const cache = 16 << 20

// Words chooses from a variant's widths: the widest whose searcher takes no more than limit
// bytes, but none wider than so many sources need, and none twice as wide as another that stays
// in the cache if it does not itself. It is the narrowest where none is within the limit.
func Words(widths []int, entities, sources int, gather Gather, limit int64) int {
	words := widths[0]
	for i, wider := range widths[1:] {
		need := Memory(entities, wider, gather)
		if 64*words >= sources || need > limit {
			break
		}
		if i > 0 && need > cache && Memory(entities, words, gather) <= cache {
			break
		}
		words = wider
	}
	return words
}
