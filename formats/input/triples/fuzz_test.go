package triples

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead checks for any text that Read does not panic, that each line is either a fact or bad, and
// that Line returns the line of a fact.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "a\tr\tb\n", "\ufeffa\tr\tb\r\n", "a r b\n", "a\t\tb", "a\tr\tb\tc\n\n", "\xff\tr\tb", "a\x00\tr\tb", "\x1f\x8b",
		"BZh91AY&SY", "\x28\xb5\x2f\xfd", "\xff\xfea", "a\t~r\tb"} {
		f.Add([]byte(text))
	}
	f.Add([]byte(pack(f, "a\tr\tb\n")))
	f.Fuzz(func(t *testing.T, text []byte) {
		// What is read of a compressed file or of UTF-16 are not its lines.
		plain := !Packed(text) && !bytes.HasPrefix(text, []byte("\xff\xfe")) && !bytes.HasPrefix(text, []byte("\xfe\xff"))
		lines := 0
		written := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
		err := Read("f", bytes.NewReader(text), func(line int, fact Triple) error {
			lines++
			if line != lines {
				t.Fatalf("line %d comes after %d lines", line, lines-1)
			}
			joined := string(fact.Head) + "\t" + string(fact.Relation) + "\t" + string(fact.Tail)
			if strings.Count(joined, "\t") != 2 || strings.ContainsAny(joined, "\x00\r\n") || !utf8.ValidString(joined) ||
				len(fact.Head) == 0 || len(fact.Relation) == 0 || len(fact.Tail) == 0 {
				t.Fatalf("line %d became the fact %q", line, fact)
			}
			if plain && fact.Line() != strings.TrimSuffix(written[line-1], "\r") {
				t.Fatalf("line %d %q is %q as a fact", line, written[line-1], fact.Line())
			}
			return nil
		}, func(b BadLine) error {
			lines++
			if b.Line != lines || b.Reason == "" || b.Remedy.String() == "" {
				t.Fatalf("bad line %+v comes after %d lines", b, lines-1)
			}
			return nil
		})
		if !plain {
			return
		}
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
		want := 0 // up to the last line that is not blank
		for i, line := range strings.Split(string(text), "\n") {
			if strings.TrimSuffix(line, "\r") != "" {
				want = i + 1
			}
		}
		if lines != want || (err != nil) != (want == 0) {
			t.Fatalf("%d lines read of %d, error %v", lines, want, err)
		}
	})
}

// FuzzReadQueries checks that a query that is read equals the line that was written, and that every line is a query
// unless there is an error.
func FuzzReadQueries(f *testing.F) {
	for _, text := range []string{"", "a\tr\n", "a\t~r", "a\t~", "~a\t~~r\r\n", "a r", "a\tr\tb", "a\tr\n\n\r\n", "\n\na\tr", "\xff\xfea"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkLines(t, text, func(each func(line int, text string)) error {
			return ReadQueries("q", bytes.NewReader(text), func(line int, q QueryLine) error {
				names := []string{q.Source, q.Relation}
				if q.Tail != "" {
					names = append(names, q.Tail)
				}
				for _, name := range names {
					if reason, _ := CheckName("name", name); reason != "" {
						t.Fatalf("line %d: %s", line, reason)
					}
				}
				if q.Inverse {
					names[1] = "~" + names[1]
				}
				each(line, strings.Join(names, "\t"))
				return nil
			})
		})
	})
}

// FuzzReadNames checks that a name that is read equals the line that was written, and that every line is a name unless
// there is an error.
func FuzzReadNames(f *testing.F) {
	for _, text := range []string{"", "a\nb c\r\n", "\ufeffa\n\n\r\n", "a\n\nb", "0\ta", "~a\n\xff", strings.Repeat("x", MaxName) + "\nx",
		strings.Repeat("x", MaxName+1), "\xfe\xffa"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkLines(t, text, func(each func(line int, text string)) error {
			return ReadNames("n", bytes.NewReader(text), func(line int, name string) error {
				if reason, _ := CheckName("name", name); reason != "" {
					t.Fatalf("line %d: %s", line, reason)
				}
				each(line, name)
				return nil
			})
		})
	})
}

// checkLines checks that read, which is strict, passes the lines of a text to each, in order, up to its end or the line
// of the error.
func checkLines(t *testing.T, text []byte, read func(each func(line int, text string)) error) {
	if Packed(text) {
		t.Skip("packed text is FuzzRead's")
	}
	written := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	for i := range written {
		written[i] = strings.TrimSuffix(written[i], "\r")
	}
	lines := 0
	err := read(func(line int, text string) {
		if lines++; line != lines || text != written[line-1] {
			t.Fatalf("line %d is %q, after %d lines of %q", line, text, lines-1, written)
		}
	})
	var bad BadLine
	switch {
	case errors.As(err, &bad):
		if bad.Line != lines+1 || bad.Reason == "" || bad.Remedy.String() == "" {
			t.Fatalf("the error after %d lines is %+v", lines, bad)
		}
	case err == nil:
		for _, rest := range written[lines:] {
			if rest != "" || lines == 0 {
				t.Fatalf("%d lines were read of %q", lines, written)
			}
		}
	case lines > 0:
		t.Fatalf("after %d lines: %v", lines, err)
	}
	if err != nil && strings.ContainsAny(err.Error(), "\n\r\x1b") {
		t.Fatalf("the error is %q", err)
	}
}
