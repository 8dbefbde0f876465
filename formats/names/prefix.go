package names

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WithPrefix returns up to count of the names that begin with prefix, whatever the case of its letters, and
// whether there are more. The names are in byte order, as a graph's are. Names that begin with the prefix
// as it is written come first.
//
// It searches for each spelling of the prefix that some name has, letter by letter: for "jo" the names with j,
// among these jo and jO, then J, Jo and JO. Each is a binary search, so that the time
// grows with the spellings that occur, hardly with the number of names.
func WithPrefix(names []string, prefix string, count int) (found []string, more bool) {
	s := prefixSearch{names: names, most: count + 1}
	s.search(0, len(names), "", prefix)
	if len(s.found) > count {
		return s.found[:count], true
	}
	return s.found, false
}

type prefixSearch struct {
	names, found []string
	most         int
}

// search appends the names[from:to] that begin with rest behind written, with which all of them begin.
func (s *prefixSearch) search(from, to int, written, rest string) {
	if rest == "" {
		s.found = append(s.found, s.names[from:min(to, from+s.most-len(s.found))]...)
		return
	}
	letter, size := utf8.DecodeRuneInString(rest)
	for spelling := letter; ; {
		begin := written + string(spelling)
		first := from + sort.SearchStrings(s.names[from:to], begin)
		last := first + sort.Search(to-first, func(i int) bool { return !strings.HasPrefix(s.names[first+i], begin) })
		if first < last {
			s.search(first, last, begin, rest[size:])
		}
		if spelling = unicode.SimpleFold(spelling); spelling == letter || len(s.found) == s.most {
			return
		}
	}
}
