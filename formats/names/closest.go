package names

import (
	"cmp"
	"slices"
	"unicode"
)

// Closest returns the names that take the fewest insertions, deletions and replacements of
// letters to become the given one, nearest first, equally near ones in their order. Names
// that begin with the given one come before all others: it was not written to its end. Case
// counts for nothing.
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

// Like returns the closest name, and whether it may be the one that was meant: it begins with the
// given one, or becomes it by changing fewer than half of its letters.
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

// editDistance is Levenshtein's, one row at a time; the row is scratch space to hand on.
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
