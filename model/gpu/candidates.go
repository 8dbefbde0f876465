package gpu

import "slices"

// distinct sets candidates to the answer and the other negatives without duplicates, ascending, and multiplicity to how
// often each stands among the negatives. It returns their number. Both have one entry more than negatives.
func distinct(answer int32, negatives, candidates, multiplicity []int32) int {
	candidates[0], multiplicity[0] = answer, 0
	rest := candidates[1:]
	copy(rest, negatives)
	slices.Sort(rest)
	n := 1
	for _, entity := range rest {
		switch {
		case entity == answer:
			multiplicity[0]++
		case n > 1 && candidates[n-1] == entity:
			multiplicity[n-1]++
		default:
			candidates[n], multiplicity[n] = entity, 1
			n++
		}
	}
	return n
}
