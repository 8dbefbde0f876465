package triples

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func strict(b BadLine) error { return b }

// readAll returns the facts as "line: head|relation|tail" and the bad lines' errors.
func readAll(t *testing.T, text string) (facts, bad []string, err error) {
	t.Helper()
	err = Read("f.txt", strings.NewReader(text), func(line int, f Triple) error {
		facts = append(facts, fmt.Sprintf("%d: %s|%s|%s", line, f.Head, f.Relation, f.Tail))
		return nil
	}, func(b BadLine) error {
		bad = append(bad, b.Error())
		return nil
	})
	return facts, bad, err
}

func TestReadAcceptsEveryLineEndAndMark(t *testing.T) {
	want := []string{"1: a|likes|b c", "2: b c|likes|ä"}
	for name, text := range map[string]string{
		"LF":               "a\tlikes\tb c\nb c\tlikes\tä\n",
		"CRLF":             "a\tlikes\tb c\r\nb c\tlikes\tä\r\n",
		"no last line end": "a\tlikes\tb c\nb c\tlikes\tä",
		"last CR alone":    "a\tlikes\tb c\r\nb c\tlikes\tä\r",
		"byte-order mark":  "\ufeffa\tlikes\tb c\r\nb c\tlikes\tä",
	} {
		for _, packed := range []bool{false, true} {
			input := text
			if packed {
				input = pack(t, text)
			}
			facts, bad, err := readAll(t, input)
			if err != nil || len(bad) != 0 {
				t.Errorf("%s, gzip %v: bad lines %q, error %v", name, packed, bad, err)
			}
			if diff := cmp.Diff(want, facts); diff != "" {
				t.Errorf("%s, gzip %v: %s", name, packed, diff)
			}
		}
	}
}

func TestReadSaysWhatIsWrongWithALine(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"two fields", "a\tr", "2 fields instead of 3; separate head, relation and tail by single tabs"},
		{"four fields", "a\tr\tb\tc", "4 fields instead of 3; separate"},
		{"one field", "a", "1 field instead of 3; separate"},
		{"trailing tab", "a\tr\tb\t", "4 fields instead of 3"},
		{"spaces for tabs", "a r b", "spaces where tabs belong; separate head, relation and tail by single tabs"},
		{"no tail, and a space in a name", "only two\tfields", "2 fields instead of 3; separate head, relation and tail by single tabs"},
		{"more words", "a long name r b", "spaces where tabs belong"},
		{"empty head", "\tr\tb", "field 1 of 3 is empty; give"},
		{"empty relation", "a\t\tb", "field 2 of 3 is empty"},
		{"empty tail", "a\tr\t", "field 3 of 3 is empty"},
		{"blank", "", "blank line; remove it"},
		{"blank, with CRLF", "\r", "blank line; remove it"},
		{"only spaces", "  ", "blank line"},
		{"NUL", "a\tr\x00\tb", "NUL at byte 4; save the file as UTF-8 text"},
		{"invalid UTF-8", "a\tr\t\xffb", "invalid UTF-8 at byte 5; save"},
		{"a lone surrogate", "a\tr\t\xed\xa0\x80", "invalid UTF-8 at byte 5"},
		{"carriage return within", "a\tr\tb\rc\tr\td", "carriage return at byte 6; end lines with LF or CRLF only"},
	} {
		facts, bad, err := readAll(t, "x\tr\ty\n"+c.line+"\nz\tr\tz\n")
		if err != nil || len(bad) != 1 || !strings.HasPrefix(bad[0], "f.txt:2: "+c.want) {
			t.Errorf("%s: bad lines %q, error %v, want one f.txt:2: %s", c.name, bad, err, c.want)
		}
		if diff := cmp.Diff([]string{"1: x|r|y", "3: z|r|z"}, facts); diff != "" {
			t.Errorf("%s: the other lines: %s", c.name, diff)
		}
		if strings.TrimSpace(c.line) == "" && c.name != "only spaces" {
			continue // at the end it is skipped
		}
		err = Read("f.txt", strings.NewReader("x\tr\ty\n"+c.line+"\n"), func(int, Triple) error { return nil }, strict)
		if b, ok := errors.AsType[BadLine](err); !ok || b.Line != 2 || b.Text != c.line {
			t.Errorf("%s, strict: %v is not the bad line with its text", c.name, err)
		}
	}
}

func TestReadOfOverlongLines(t *testing.T) {
	// A line that is not too long is refused for its name.
	name := strings.Repeat("n", MaxLine-len("\tr\tb"))
	for _, c := range []struct {
		longer int
		end    string
		bad    bool
	}{
		{0, "\n", false}, {0, "\r\n", false}, {0, "", false},
		{1, "\n", true}, {1, "\r\n", true}, {1, "", true}, {2 * bufferBytes, "\n", true}, {2 * bufferBytes, "", true},
	} {
		text := name + strings.Repeat("n", c.longer) + "\tr\tb" + c.end
		facts, bad, err := readAll(t, "x\tr\ty\n"+text)
		reason := "the limit for a name is"
		if c.bad {
			reason = "line longer than"
		}
		if err != nil || len(facts) != 1 || len(bad) != 1 || !strings.Contains(bad[0], reason) {
			t.Errorf("%d over the limit, end %q: %d facts, bad lines %q, error %v", c.longer, c.end, len(facts), bad, err)
		}
		if c.bad && c.end != "" {
			if facts, _, _ := readAll(t, text+"z\tr\tz\n"); len(facts) != 1 || facts[0] != "2: z|r|z" {
				t.Errorf("%d over the limit, end %q: the next line became %q", c.longer, c.end, facts)
			}
		}
	}
}

// TestNamesAreBounded has names of the limit and beyond it, and the text that a bad line keeps.
func TestNamesAreBounded(t *testing.T) {
	long := strings.Repeat("ä", MaxName/2)
	for field := range 3 {
		for _, c := range []struct {
			name string
			bad  bool
		}{{long, false}, {long + "n", true}} {
			fields := []string{"a", "r", "b"}
			fields[field] = c.name
			var kept []BadLine
			facts := 0
			err := Read("f.txt", strings.NewReader(strings.Join(fields, "\t")), func(int, Triple) error { facts++; return nil },
				func(b BadLine) error { kept = append(kept, b); return nil })
			if err != nil || facts == 1 == c.bad || facts+len(kept) != 1 {
				t.Errorf("field %d of %d bytes: %d facts, %v", field, len(c.name), facts, err)
			}
			if c.bad && (len(kept[0].Text) > shownOfLong+20 || !strings.HasSuffix(kept[0].Text, fmt.Sprintf("... (%d bytes)", MaxName+5)) ||
				!utf8.ValidString(kept[0].Text)) {
				t.Errorf("field %d: the bad line keeps %q", field, kept[0].Text)
			}
		}
	}
}

func TestRelationsDoNotLookLikeInverses(t *testing.T) {
	_, bad, err := readAll(t, "a\t~r\tb\n~a\tr~\t~b\n")
	if err != nil || len(bad) != 1 || !strings.HasPrefix(bad[0],
		`f.txt:1: relation "~r" begins with ~, which queries use for the inverse of a relation; rename the relation`) {
		t.Errorf("bad lines %q, %v", bad, err)
	}
}

func TestReadOfUTF16(t *testing.T) {
	for name, text := range map[string]string{"little endian": "\xff\xfea\x00\t\x00", "big endian": "\xfe\xff\x00a\x00\t"} {
		if _, _, err := readAll(t, text); err == nil || err.Error() != "f.txt:1: the file is UTF-16 text; save it as UTF-8" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadOfPackedText reads files that bzip2 and zstd wrote, whole and cut anywhere.
func TestReadOfPackedText(t *testing.T) {
	for _, ending := range []string{"bz2", "zst"} {
		whole, err := os.ReadFile("testdata/facts.txt." + ending)
		if err != nil {
			t.Fatal(err)
		}
		facts, bad, err := readAll(t, string(whole))
		if want := []string{"1: a|r|b", "2: b|r|c"}; err != nil || len(bad) > 0 || !cmp.Equal(facts, want) {
			t.Errorf("%s: %q, bad lines %q, error %v", ending, facts, bad, err)
		}
		for n := magicLength; n < len(whole); n++ {
			if _, _, err := readAll(t, string(whole[:n])); err == nil || !strings.HasSuffix(err.Error(), "make or fetch it again") {
				t.Errorf("first %d of %d bytes of %s: error %v", n, len(whole), ending, err)
			}
		}
		for n := magicLength; n < len(whole); n++ {
			damaged := bytes.Clone(whole)
			damaged[n] ^= 0x10
			facts, _, err := readAll(t, string(damaged))
			if err == nil && len(facts) != 2 {
				t.Errorf("byte %d of %s flipped: %q and no error", n, ending, facts)
			}
		}
	}
	if facts, _, err := readAll(t, "BZhang\tr\tBZh9\n"); err != nil || len(facts) != 1 {
		t.Errorf("a name that begins like bzip2: %q, %v", facts, err)
	}
}

func TestReadOfNothing(t *testing.T) {
	for _, name := range []string{"f.tsv.gz", "f.tsv.BZ2", "f.tsv.zst"} {
		_, err := Unpack(name, strings.NewReader("<!DOCTYPE html>\n"))
		if err == nil || !strings.Contains(err.Error(), `file, as its name says: it begins with "<!DOCTYPE "; `) {
			t.Errorf("a page of HTML as %s: %v", name, err)
		}
	}
	for name, text := range map[string]string{"empty": "", "only a mark": "\ufeff", "empty gzip": pack(t, ""), "a line end": "\n", "blank lines": "\r\n\n"} {
		_, _, err := readAll(t, text)
		if !errors.Is(err, ErrEmpty) || !strings.Contains(err.Error(), "f.txt") {
			t.Errorf("%s: error %v, want ErrEmpty with the file's name", name, err)
		}
	}
}

// TestReadOfEmptyMembers has many empty members, as the parts that a cluster writes may be, at each place.
func TestReadOfEmptyMembers(t *testing.T) {
	empty, one := strings.Repeat(pack(t, ""), 250), pack(t, "a\tr\tb\n")
	for _, text := range []string{empty + one + one, one + empty + one, one + one + empty} {
		if facts, bad, err := readAll(t, text); err != nil || len(bad) != 0 || len(facts) != 2 {
			t.Errorf("%d facts, bad lines %q, error %v", len(facts), bad, err)
		}
	}
}

// TestReadOfWords has words of a text at the place where archives have their names.
func TestReadOfWords(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 256) + "custard\tr\tb\n", strings.Repeat("x", 256) + "custard  pie\tr\tb\n"} {
		if facts, bad, err := readAll(t, text); err != nil || len(bad) != 0 || len(facts) != 1 {
			t.Errorf("%d facts, bad lines %q, error %v", len(facts), bad, err)
		}
	}
	for _, archive := range []string{"ustar\x0000", "ustar  \x00"} {
		if _, _, err := readAll(t, "name"+strings.Repeat("\x00", 253)+archive); err == nil || !strings.Contains(err.Error(), "a tar file: unpack it first") {
			t.Errorf("%q: %v", archive, err)
		}
	}
}

func TestReadOfGzipCutAnywhere(t *testing.T) {
	whole := pack(t, "a\tr\tb\nc\tr\td\n")
	for n := 2; n < len(whole); n++ {
		_, _, err := readAll(t, whole[:n])
		if err == nil || !strings.Contains(err.Error(), "f.txt: the gzip file is cut short") {
			t.Errorf("first %d of %d bytes: error %v", n, len(whole), err)
		}
	}
}

func TestReadOfDamagedGzip(t *testing.T) {
	whole := pack(t, strings.Repeat("a\tr\tb\n", 100))
	want, _, _ := readAll(t, whole)
	refused := 0
	for n := 2; n < len(whole); n++ {
		damaged := []byte(whole)
		damaged[n] ^= 0x10
		// The header's time and some unused bits mean nothing: then the facts must be the same.
		facts, bad, err := readAll(t, string(damaged))
		if err == nil && (len(bad) != 0 || !cmp.Equal(facts, want)) {
			t.Errorf("byte %d flipped: %d facts, bad lines %q and no error", n, len(facts), bad)
		}
		if err != nil {
			refused++
		}
	}
	if refused < len(whole)/2 {
		t.Errorf("only %d of %d flips were noticed", refused, len(whole))
	}
}

func TestReadReturnsErrorsAsTheyAre(t *testing.T) {
	stop := errors.New("stop")
	if err := Read("f", strings.NewReader("a\tr\tb\n"), func(int, Triple) error { return stop }, strict); err != stop {
		t.Errorf("the error of each became %v", err)
	}
	broken := iotest.ErrReader(stop)
	err := Read("f", io.MultiReader(strings.NewReader("a\tr\tb\n"), broken), func(int, Triple) error { return nil }, strict)
	if !errors.Is(err, stop) || !strings.Contains(err.Error(), "reading f:") {
		t.Errorf("the error of the reader became %v", err)
	}
}

func TestReadDoesNotDependOnHowBytesArrive(t *testing.T) {
	text := "a\tr\tb\r\nbad line\nc\tr\td"
	facts, bad, _ := readAll(t, text)
	for name, r := range map[string]io.Reader{
		"a byte at a time": iotest.OneByteReader(strings.NewReader(text)),
		"error with data":  iotest.DataErrReader(strings.NewReader(text)),
	} {
		var gotFacts, gotBad []string
		err := Read("f.txt", r, func(line int, f Triple) error {
			gotFacts = append(gotFacts, fmt.Sprintf("%d: %s|%s|%s", line, f.Head, f.Relation, f.Tail))
			return nil
		}, func(b BadLine) error { gotBad = append(gotBad, b.Error()); return nil })
		if err != nil || !cmp.Equal(gotFacts, facts) || !cmp.Equal(gotBad, bad) {
			t.Errorf("%s: %q, %q, error %v", name, gotFacts, gotBad, err)
		}
	}
}

// TestChunksAreTheText splits a text after each of its lines: the two chunks have the facts and bad
// lines of the text, with the same line numbers. A byte-order mark in a later chunk is text.
func TestChunksAreTheText(t *testing.T) {
	text := "\ufeffa\tr\tb\nbad line\r\nc\tr\td\n\n\ufeffe\tr\tf\n\x1f\x8b\tr\tf\ng\tr\th"
	facts, bad, _ := readAll(t, text)
	if len(facts) != 4 || len(bad) != 3 || facts[2] != "5: \ufeffe|r|f" {
		t.Fatalf("%q, %q", facts, bad)
	}
	lines := strings.SplitAfter(text, "\n")
	for cut := 1; cut <= len(lines); cut++ {
		var gotFacts, gotBad []string
		for _, part := range []struct {
			first int
			text  string
		}{{1, strings.Join(lines[:cut], "")}, {cut + 1, strings.Join(lines[cut:], "")}} {
			err := readChunk("f.txt", part.first, strings.NewReader(part.text), strings.NewReader(strings.Join(lines[cut:], "")),
				func(line int, f Triple) error {
					gotFacts = append(gotFacts, fmt.Sprintf("%d: %s|%s|%s", line, f.Head, f.Relation, f.Tail))
					return nil
				}, func(b BadLine) error { gotBad = append(gotBad, b.Error()); return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		if !cmp.Equal(gotFacts, facts) || !cmp.Equal(gotBad, bad) {
			t.Errorf("split after line %d: %q, %q", cut, gotFacts, gotBad)
		}
	}
}

func TestReadQueries(t *testing.T) {
	var got []string
	read := func(text string) error {
		got = nil
		return ReadQueries("q.txt", strings.NewReader(text), func(line int, q QueryLine) error {
			got = append(got, fmt.Sprintf("%d: %s|%s|%v|%s", line, q.Source, q.Relation, q.Inverse, q.Tail))
			return nil
		})
	}
	if err := read("\ufeffa b\tlikes\r\nc\t~likes"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1: a b|likes|false|", "2: c|likes|true|"}, got); diff != "" {
		t.Error(diff)
	}
	if err := read("a b\tlikes\tc d\r\n?\t?\t~"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1: a b|likes|false|c d", "2: ?|?|false|~"}, got); diff != "" {
		t.Error(diff)
	}
	if err := read("a\tlikes\n\r\n\n"); err != nil || len(got) != 1 {
		t.Errorf("with blank lines at the end: %q, error %v", got, err)
	}
	for _, c := range []struct{ text, want string }{
		{"a\tr\nb\tr\tc\n", "q.txt:2: 3 fields instead of 2; the first line has 2: put queries (source, relation) and triples (head, relation, tail) into " +
			"files of their own"},
		{"a\tr\nb\tr\tc\td\n", "q.txt:2: 4 fields instead of 2; separate source and relation by a tab"},
		{"a r\n", "q.txt:1: spaces where tabs belong"},
		{"a\tr\tb\nc\tr\n", "q.txt:2: 2 fields instead of 3; the first line has 3: put queries"},
		{"a\tr\tb\nc\t~r\td", "q.txt:2: the relation of a triple begins with ~; exchange head and tail"},
		{"a\t\tb", "q.txt:1: field 2 of 3 is empty"},
		{"a\t~\n", "q.txt:1: field 2 of 2 is ~ without a relation"},
		{"\tr\n", "q.txt:1: field 1 of 2 is empty"},
		{"a\tr\n\nb\tr\n", "q.txt:2: blank line; remove it"},
		{"\n\r\n", "q.txt: the file is empty; it needs lines of source and relation"},
		{"", "q.txt: the file is empty; it needs lines of source and relation"},
	} {
		if err := read(c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.text, err, c.want)
		}
	}
}

func TestReadOfBenchmarkData(t *testing.T) {
	for _, c := range []struct {
		file string
		want int
	}{{"fb15k-237/train.txt", 272115}, {"wn18rr/train.txt", 86835}} {
		data, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", c.file))
		if err != nil {
			t.Skipf("no benchmark data: %v", err)
		}
		defer data.Close()
		n := 0
		if err := Read(c.file, data, func(int, Triple) error { n++; return nil }, strict); err != nil || n != c.want {
			t.Errorf("%s: %d facts, error %v, want %d", c.file, n, err, c.want)
		}
	}
}

func pack(t testing.TB, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("/m/027rn\t/location/country/form_of_government\t/m/06cx9\r\n", 100_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := Read("f", strings.NewReader(text), func(int, Triple) error { return nil }, strict); err != nil {
			b.Fatal(err)
		}
	}
}
