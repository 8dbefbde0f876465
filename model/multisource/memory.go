package multisource

// Memory is the bytes of a searcher with rows of so many words, beside the graph: for V
// entities, with 64 words sources,
//
//	rows       24 words V       the frontier, what is reached, and what is reached next
//	lists       8 V
//	distances  32 words V       by entity; and as much again by source, packed
//	levels     640 KiB at most, and 280 bytes a source
func Memory(entities, words int, gather Gather) int64 {
	total := int64(24*words+8) * int64(entities+1)
	if gather.Distances {
		total += int64(32*words)*perSquare*int64(squares(entities)) + int64(64*words)*int64(packedStride(entities))
	}
	if gather.Levels {
		total += 640<<10 + int64(64*words)*280
	}
	return total
}

// Words chooses the widest of a variant's rows whose searcher stays within a limit of bytes, but
// none wider than so many sources need; the narrowest where none stays within.
func Words(widths []int, entities, sources int, gather Gather, limit int64) int {
	words := widths[0]
	for _, wider := range widths[1:] {
		if 64*words < sources && Memory(entities, wider, gather) <= limit {
			words = wider
		}
	}
	return words
}
