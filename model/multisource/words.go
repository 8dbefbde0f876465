package multisource

// cache is what a thread may expect of the processor's last cache: a searcher whose tables stay
// in it gains more by that than by rows twice as wide.
const cache = 20 << 20

// Words chooses from a variant's widths, in words of 64 sources: the widest of at most limit words,
// but none wider than so many sources need, and none twice as wide as another that stays in the
// cache if it does not itself. It returns the narrowest where none is within the limit.
func Words(widths []int, entities, sources int, gather Gather, limit int) int {
	words := widths[0]
	for i, wider := range widths[1:] {
		if 64*words >= sources || wider > limit {
			break
		}
		if i > 0 && workingSet(entities, wider, gather) > cache && workingSet(entities, words, gather) <= cache {
			break
		}
		words = wider
	}
	return words
}

// workingSet is the bytes that every step of a search reads: packed distances are written once and
// not among them.
func workingSet(entities, words int, gather Gather) int {
	rows := perBlock * blocks(entities)
	total := 24*words*rows + 8*(entities+1)
	if gather.Distances {
		total += 32 * words * (rows + perBlock)
	}
	return total
}
