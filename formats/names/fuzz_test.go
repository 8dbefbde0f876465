package names

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FuzzQuoting checks for any text that what is shown of it has nothing that a terminal obeys, and that a field and a
// word of a shell are read back as the text.
func FuzzQuoting(f *testing.F) {
	for _, test := range hostile {
		f.Add(test.name)
	}
	f.Add(`it's \'`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, written := range []string{Escape(text), Field(text), Quote(text)} {
			if !utf8.ValidString(written) || strings.ContainsFunc(written, obeyed) || Escape(written) != written {
				t.Errorf("%q is written as %q", text, written)
			}
		}
		field := Field(text)
		if strings.HasPrefix(field, `"`) {
			if err := json.Unmarshal([]byte(field), &field); err != nil {
				t.Errorf("field %s: %v", field, err)
			}
		}
		if want := string([]rune(text)); field != want { // invalid bytes are replaced
			t.Errorf("the field of %q is read as %q", want, field)
		}
		if line := CommandLine("x", text, "x"); line != "x "+Quote(text)+" x" {
			t.Errorf("%q is the line %q", text, line)
		}
		if word, ok := unquoted(Quote(text)); !ok || word != text {
			t.Errorf("the word %q of %q is read as %q, %v", Quote(text), text, word, ok)
		}
	})
}

// unquoted returns what a shell makes of a word, and whether it is one word without anything that the shell expands.
func unquoted(word string) (text string, ok bool) {
	if word == "" {
		return "", false
	}
	for word != "" {
		switch {
		case strings.HasPrefix(word, "$'"):
			// The escapes of the shell are some of Go's, where only \' is another one.
			end := 2
			for end < len(word) && word[end] != '\'' {
				if word[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(word) {
				return "", false
			}
			inner, err := strconv.Unquote(`"` + strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `"`, `\"`).Replace(word[2:end]) + `"`)
			if err != nil {
				return "", false
			}
			text, word = text+inner, word[end+1:]
		case word[0] == '\'':
			inner, rest, ended := strings.Cut(word[1:], "'")
			if !ended {
				return "", false
			}
			text, word = text+inner, rest
		case strings.HasPrefix(word, `\'`):
			text, word = text+"'", word[2:]
		default:
			r, size := utf8.DecodeRuneInString(word)
			if r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("%+,-./:=@^_", r) {
				return "", false
			}
			text, word = text+word[:size], word[size:]
		}
	}
	return text, true
}

// FuzzSearch checks for any names that those found are some of them, each once, in the right number: the names with a
// prefix, and the closest ones, of which an equal one is the first. Shortened names have at most so many letters.
func FuzzSearch(f *testing.F) {
	f.Add("jo", "Joan\njoan\nJOHN\nJon\nZoë", uint8(2))
	f.Add("ẞk\u212a", "ßk\nßK\nẞ\n\n\ufffd", uint8(0))
	f.Add("stras", "Straße\nstrasse\nStra\u0308\nŁ\nœ", uint8(3))
	f.Add("\xff", "\ufffd\nhttp://example.org/ns#parentOf\n/a/b/c/d/", uint8(9))
	f.Fuzz(func(t *testing.T, name, list string, count uint8) {
		known := strings.Split(strings.ToValidUTF8(list, "\ufffd"), "\n")
		slices.Sort(known)
		known = slices.Compact(known)
		var want []string
		letters, sought := []rune(name), appendFolded(nil, name)
		for _, k := range known {
			if strings.HasPrefix(k, name) || len(sought) > 0 && bytes.HasPrefix(appendFolded(nil, k), sought) {
				want = append(want, k)
			}
		}
		found, more := NewIndex(known).WithPrefix(t.Context(), name, int(count))
		if len(found) != min(int(count), len(want)) || more != (len(want) > int(count)) || !each(found, want) {
			t.Errorf("%q begins %q, more: %v, want %d of %q", name, found, more, count, want)
		}
		near := Closest(name, known, int(count))
		if len(near) != min(int(count), len(known)) || !each(near, known) {
			t.Errorf("closest to %q are %q, want %d of %q", name, near, count, known)
		}
		if count > 0 && len(want) > 0 {
			if like, ok := Like(name, known); !ok || like != near[0] ||
				slices.Contains(want, name) && len(letters) < comparedLetters && norm.NFD.String(like) != norm.NFD.String(name) {
				t.Errorf("closest to %q is %q, %v, want one of %q", name, like, ok, want)
			}
		}
		for most := 4; most < 40; most += 7 {
			short := Shorten(name, most)
			if n := utf8.RuneCountInString(short); n > most || n < min(most, len(letters)) && !strings.HasPrefix(short, "…") ||
				n == len(letters) && len(letters) <= most && short != name {
				t.Errorf("%q becomes %q, at most %d letters", name, short, most)
			}
		}
	})
}

// each reports whether all of some are among names, each once.
func each(some, names []string) bool {
	sorted := slices.Sorted(slices.Values(some))
	return len(slices.Compact(sorted)) == len(some) && !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(names, s) })
}
