package names

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The bounds of the search for close names, so that no name makes it slow: how many letters of a name are compared, and
// the longest distance that is computed.
const comparedLetters, longestDistance = 128, 32

// blank begins the name of a blank node.
const blank = "_:"

// Closest returns the names with the least edit distance to the given one (insertions, deletions and replacements of
// letters), nearest first, and in their order if equal. Names that begin with the given one come before all others,
// because it may be unfinished, then those that contain it, if it has three letters. Case and accents are ignored, but
// of names that differ in nothing else the least different comes first. Only the first 128 letters and distances up to
// 32 count. Blank nodes of RDF, such as _:b1, come last, unless one is given.
func Closest(name string, names []string, count int) []string {
	return ClosestContext(context.Background(), name, names, count)
}

// searching holds a value while a search looks at all names, with all cores: one at a time.
var searching = make(chan struct{}, 1)

// enter waits until the caller may search, or ctx is done: then it returns false.
func enter(ctx context.Context) bool {
	select {
	case searching <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func leave() { <-searching }

// ClosestContext returns the closest names like Closest. If ctx ends, fewer names were compared, maybe none. One search
// runs at a time.
func ClosestContext(ctx context.Context, name string, names []string, count int) []string {
	if count = min(count, len(names)); count == 0 {
		return nil
	}
	if !enter(ctx) {
		return nil
	}
	defer leave()
	searches := make([]search, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i := range searches {
		all.Go(func() { searches[i].run(ctx, name, names, i, len(searches), count) })
	}
	all.Wait()
	var kept []candidate
	for _, s := range searches {
		kept = append(kept, s.kept...)
	}
	slices.SortFunc(kept, candidate.compare)
	var near []string
	for _, c := range kept[:min(count, len(kept))] {
		near = append(near, names[c.index])
	}
	return near
}

// candidate is a name that may be among the closest. rest is 0 if it begins with the sought one, 1 if it contains it, 3
// for a blank node, else 2. spelling compares a name that differs in case and accents alone.
type candidate struct{ rest, distance, spelling, index int }

func (c candidate) compare(other candidate) int {
	return cmp.Or(cmp.Compare(c.rest, other.rest), cmp.Compare(c.distance, other.distance), cmp.Compare(c.spelling, other.spelling),
		cmp.Compare(c.index, other.index))
}

// search compares names with the sought one, and keeps the closest.
type search struct {
	kept    []candidate // closest first
	sought  []rune
	name    string
	letters [64]int16 // how often each letter is in sought, by its last bits
	known   []rune    // of the last name
	row     []int
}

// run compares one of the chunks of the names, counted from 0, and keeps the closest count names.
func (s *search) run(ctx context.Context, name string, names []string, chunk, chunks, count int) {
	s.name, s.sought = name, folded(nil, name, comparedLetters)
	for _, letter := range s.sought {
		s.letters[letter%int32(len(s.letters))]++
	}
	for i := chunk * len(names) / chunks; i < (chunk+1)*len(names)/chunks; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return
		}
		worst := candidate{rest: 4}
		if len(s.kept) == count {
			worst = s.kept[count-1]
		}
		c, closer := s.compare(names[i], worst)
		if !closer {
			continue
		}
		c.index = i
		at, _ := slices.BinarySearchFunc(s.kept, c, candidate.compare)
		s.kept = slices.Insert(s.kept, at, c)
		s.kept = s.kept[:min(count, len(s.kept))]
	}
}

// compare returns how close a name is, and whether it is closer than worst, or as close and may come before.
func (s *search) compare(name string, worst candidate) (c candidate, closer bool) {
	s.known = folded(s.known[:0], name, math.MaxInt)
	switch {
	case strings.HasPrefix(name, blank) && string(s.sought[:min(2, len(s.sought))]) != blank:
		c.rest = 3
	case begins(s.known, s.sought):
	case worst.rest > 0 && contains(s.known, s.sought):
		c.rest = 1
	default:
		c.rest = 2
	}
	if c.rest > worst.rest {
		return c, false
	}
	s.known = s.known[:min(len(s.known), comparedLetters+longestDistance)]
	c.distance = longestDistance + 1
	most := longestDistance
	if c.rest == worst.rest {
		most = min(most, max(0, worst.distance-1))
	}
	if s.atLeast() <= most {
		c.distance, s.row = editDistance(s.sought, s.known, most, s.row)
	}
	if c.distance == 0 {
		c.spelling = spelling(s.name, name)
	}
	c.index = worst.index
	return c, c.compare(worst) < 0
}

// begins reports whether the folded letters of a name begin with those of the sought one.
func begins(name, sought []rune) bool {
	return len(name) >= len(sought) && slices.Equal(name[:len(sought)], sought)
}

// contains reports whether the folded letters of a name contain those of the sought one, three or more.
func contains(name, sought []rune) bool {
	if len(sought) < 3 {
		return false
	}
	for at := range max(0, len(name)-len(sought)+1) {
		if name[at] == sought[0] && begins(name[at:], sought) {
			return true
		}
	}
	return false
}

// atLeast returns a bound of the distance to the known name: letters that only the longer one has.
func (s *search) atLeast() int {
	left, common := s.letters, 0
	for _, letter := range s.known {
		if at := &left[letter%int32(len(left))]; *at > 0 {
			*at--
			common++
		}
	}
	return max(len(s.sought), len(s.known)) - common
}

// Like returns the closest name, and whether it may be the one that was meant: it begins with the given
// one, or differs in fewer than half of its letters.
func Like(name string, names []string) (string, bool) {
	if len(names) == 0 {
		return "", false
	}
	closest := Closest(name, names, 1)[0]
	sought, known := folded(nil, name, comparedLetters), folded(nil, closest, comparedLetters)
	if begins(known, sought) {
		return closest, true
	}
	distance, _ := editDistance(sought, known, longestDistance, nil)
	return closest, 2*distance < len(known)
}

// folded appends the first letters of a name to a buffer, without their case and accents.
func folded(to []rune, name string, most int) []rune {
	for _, letter := range name {
		if len(to) >= most {
			break
		}
		for _, plain := range folds(letter) {
			if plain != 0 {
				to = append(to, plain)
			}
		}
	}
	return to
}

// spelling returns how much two names differ that are the same without case and accents: in accents, and in both.
func spelling(a, b string) (sum int) {
	for _, form := range []func(string) string{strings.ToLower, func(name string) string { return name }} {
		distance, _ := editDistance([]rune(norm.NFD.String(form(a))), []rune(norm.NFD.String(form(b))), longestDistance, nil)
		sum += distance
	}
	return sum
}

// latin are letters that have no decomposition in Unicode, as they are typed without them.
var latin = map[rune][2]rune{
	'ß': {'s', 's'}, 'æ': {'a', 'e'}, 'œ': {'o', 'e'}, 'þ': {'t', 'h'}, 'ø': {'o'}, 'ł': {'l'}, 'đ': {'d'}, 'ð': {'d'}, 'ħ': {'h'}, 'ı': {'i'},
}

// folds returns a letter without its case and its accents, in up to two letters: who types Zurich means Zürich, and
// Strasse Straße. Of an accent that follows its letter nothing is left.
func folds(letter rune) (plain [2]rune) {
	const firstAccent, lastAccent = 0x300, 0x36f
	switch {
	case 'A' <= letter && letter <= 'Z':
		return [2]rune{letter + 'a' - 'A'}
	case letter <= unicode.MaxASCII:
		return [2]rune{letter}
	case firstAccent <= letter && letter <= lastAccent:
		return plain
	}
	var utf [utf8.UTFMax]byte
	letters := norm.NFD.Properties(utf8.AppendRune(utf[:0], letter)).Decomposition()
	if len(letters) > 0 {
		letter, _ = utf8.DecodeRune(letters)
	}
	letter = unicode.ToLower(letter)
	if plain, ok := latin[letter]; ok {
		return plain
	}
	return [2]rune{letter}
}

// editDistance returns the Levenshtein distance, or most+1 if it is greater than most. row is scratch space,
// which it returns for reuse. Row i of the table is computed only from column i-most to i+most: outside them the
// distance is greater.
func editDistance(a, b []rune, most int, row []int) (int, []int) {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1, row
	}
	// The row for no letters of a: j letters are inserted.
	row = row[:0]
	for j := range len(b) + 1 {
		row = append(row, min(j, most+1))
	}
	for i, x := range a {
		// diagonal is the value above and to the left, which row no longer holds.
		from, to := max(0, i-most), min(len(b), i+1+most)
		diagonal := row[from]
		row[from] = most + 1
		if from == 0 {
			row[0] = min(i+1, most+1)
		}
		least := row[from]
		for j := from; j < to; j++ {
			replaced := diagonal
			if x != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
			least = min(least, row[j+1])
		}
		if least > most {
			return most + 1, row
		}
	}
	return min(row[len(b)], most+1), row
}
