package triples

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead checks for any text that Read does not panic, that each line is either a fact or bad, and
// that Line returns the line of a fact.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "a\tr\tb\n", "\ufeffa\tr\tb\r\n", "a r b\n", "a\t\tb", "a\tr\tb\tc\n\n", "\xff\tr\tb", "a\x00\tr\tb", "\x1f\x8b", "BZh91AY&SY", "\x28\xb5\x2f\xfd", "\xff\xfea", "a\t~r\tb"} {
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
			if b.Line != lines || b.Reason == "" || b.Remedy == "" {
				t.Fatalf("bad line %+v comes after %d lines", b, lines-1)
			}
			return nil
		})
		if !plain {
			return
		}
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
		want := bytes.Count(text, []byte("\n"))
		if len(text) > 0 && text[len(text)-1] != '\n' {
			want++
		}
		if lines != want || (err != nil) != (want == 0) {
			t.Fatalf("%d lines read of %d, error %v", lines, want, err)
		}
	})
}

// FuzzReadQueries checks that a query that is read equals the line that was written.
func FuzzReadQueries(f *testing.F) {
	for _, text := range []string{"", "a\tr\n", "a\t~r", "a\t~", "~a\t~~r\r\n", "a r", "a\tr\tb"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if Packed(text) {
			t.Skip("packed text is FuzzRead's")
		}
		lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
		ReadQueries("q", bytes.NewReader(text), func(line int, source, relation string, inverse bool) error {
			if inverse {
				relation = "~" + relation
			}
			if want := strings.TrimSuffix(lines[line-1], "\r"); source+"\t"+relation != want {
				t.Fatalf("line %d %q became %q %q", line, want, source, relation)
			}
			return nil
		})
	})
}
