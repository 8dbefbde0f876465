package multisource

// Memory is the bytes of a searcher with rows of so many words, beside the graph: for V
// entities, with 64 words sources,
//
//	rows       24 words V       the frontier, what is reached, and what is reached next; V up to the next 128
//	lists       8 V
//	distances  32 words V       by entity, V up to the next 128, and as much again by source, packed
//	levels     640 KiB at most, and 280 bytes a source
func Memory(entities, words int, gather Gather) int64 {
	total := readAgain(entities, words, gather)
	if gather.Distances {
		total += int64(64*words) * int64(packedStride(entities))
	}
	if gather.Levels {
		total += 640<<10 + int64(64*words)*280
	}
	return total
}

// readAgain is the part of Memory that every step reads: packed distances are written once.
func readAgain(entities, words int, gather Gather) int64 {
	rows := int64(perBlock * blocks(entities))
	total := int64(24*words)*rows + 8*int64(entities+1)
	if gather.Distances {
		total += int64(32*words)*rows + int64(32*words)*perBlock
	}
	return total
}

// cache is what a thread may expect of the processor's last cache: a searcher whose tables stay
// in it gains more by that than by rows twice as wide.
const cache = 20 << 20

// Words chooses from a variant's widths: the widest whose searcher takes no more than limit
// bytes, but none wider than so many sources need, and none twice as wide as another that stays
// in the cache if it does not itself. It is the narrowest where none is within the limit.
func Words(widths []int, entities, sources int, gather Gather, limit int64) int {
	words := widths[0]
	for i, wider := range widths[1:] {
		if 64*words >= sources || Memory(entities, wider, gather) > limit {
			break
		}
		if i > 0 && readAgain(entities, wider, gather) > cache && readAgain(entities, words, gather) <= cache {
			break
		}
		words = wider
	}
	return words
}
