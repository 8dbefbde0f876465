package names

import (
	"cmp"
	"slices"
	"unicode"
)

// Closest returns the names with the least edit distance to the given one (insertions, deletions and
// replacements of letters), nearest first, and in their order if equal. Names that begin with the given
// one come before all others, because it may be unfinished. Case is ignored.
func Closest(name string, names []string, count int) []string {
	type candidate struct{ index, rest, distance int }
	wanted := folded(name)
	var row []int
	candidates := make([]candidate, len(names))
	for i, n := range names {
		known := folded(n)
		candidates[i].index = i
		if len(known) < len(wanted) || !slices.Equal(known[:len(wanted)], wanted) {
			candidates[i].rest = 1
		}
		candidates[i].distance, row = editDistance(wanted, known, row)
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rest, b.rest), cmp.Compare(a.distance, b.distance))
	})
	var near []string
	for _, c := range candidates[:min(count, len(candidates))] {
		near = append(near, names[c.index])
	}
	return near
}

// Like returns the closest name, and whether it may be the one that was meant: it begins with the given
// one, or differs in fewer than half of its letters.
func Like(name string, names []string) (string, bool) {
	if len(names) == 0 {
		return "", false
	}
	closest := Closest(name, names, 1)[0]
	wanted, known := folded(name), folded(closest)
	if len(known) >= len(wanted) && slices.Equal(known[:len(wanted)], wanted) {
		return closest, true
	}
	distance, _ := editDistance(wanted, known, nil)
	return closest, 2*distance < len(known)
}

func folded(name string) []rune {
	letters := []rune(name)
	for i, r := range letters {
		letters[i] = unicode.ToLower(r)
	}
	return letters
}

// editDistance returns the Levenshtein distance. row is scratch space, which it returns for reuse.
func editDistance(a, b []rune, row []int) (int, []int) {
	row = row[:0]
	for j := range len(b) + 1 {
		row = append(row, j)
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			replaced := diagonal
			if x != y {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)], row
}
