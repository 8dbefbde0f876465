package names

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"unicode/utf8"
)

// Containing returns up to count of the names that contain a text, whatever the case of its letters, and whether there are
// more: first those that WithPrefix returns, then the others in their order. Of a text with more than 128 letters it returns
// the former alone. It looks at every name unless enough begin with the text, with all cores, until ctx ends: then some names
// are missing.
func Containing(ctx context.Context, names []string, text string, count int) (found []string, more bool) {
	found, more = WithPrefix(names, text, count)
	wanted := folded(nil, text, comparedLetters+1)
	if more || text == "" || len(wanted) > comparedLetters {
		return found, more
	}
	begin, chunks := found, make([][]string, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i := range chunks {
		all.Go(func() {
			for at := i * len(names) / len(chunks); at < (i+1)*len(names)/len(chunks) && len(begin)+len(chunks[i]) <= count; at++ {
				if at%4096 == 0 && ctx.Err() != nil {
					return
				}
				if contains(names[at], wanted) && !slices.Contains(begin, names[at]) {
					chunks[i] = append(chunks[i], names[at])
				}
			}
		})
	}
	all.Wait()
	found = slices.Concat(begin, slices.Concat(chunks...))
	return found[:min(count, len(found))], len(found) > count
}

// contains reports whether a name contains the folded letters of a text. It decodes no letter of ASCII that is not the first one.
func contains(name string, wanted []rune) bool {
	for at := range len(name) {
		letter := name[at]
		if 'A' <= letter && letter <= 'Z' {
			letter += 'a' - 'A'
		}
		if (letter >= utf8.RuneSelf || rune(letter) == wanted[0]) && utf8.RuneStart(letter) && begins(name[at:], wanted) {
			return true
		}
	}
	return false
}
