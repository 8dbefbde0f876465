package study

// cache is the number of bytes of the last-level cache that a worker can expect. A searcher gains more
// from tables that stay in it than from rows twice as wide.
const cache = 20 << 20

// Words returns the width to use from a kernel variant's widths, in words of 64 sources: the widest of at
// most limit words, unless sources fit a narrower one, or only a narrower one stays in the cache. If all
// exceed the limit, it returns the narrowest.
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

// workingSet returns the number of bytes that every step of a search reads. Packed distances are not
// among them, since they are written once.
func workingSet(entities, words int, gather Gather) int {
	rows := perBlock * blocks(entities)
	total := 24*words*rows + 8*(entities+1)
	if gather.Distances {
		total += 32 * words * rows
	}
	return total
}
