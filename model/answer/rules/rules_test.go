package rules

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/model/graph"
)

func encoded(t testing.TB, r *Rules) []byte {
	t.Helper()
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFile(t *testing.T) {
	t.Parallel()
	r := mined(t, random(t, 1, 20, 3, 200), 1)
	r.Graph = "ab"
	text := encoded(t, r)
	before := bytes.Clone(text)
	read, err := Parse("rules.json", text)
	if err != nil {
		t.Fatal(err)
	}
	r.Checksum = read.Checksum
	if diff := cmp.Diff(r, read); diff != "" || len(r.List) < 10 {
		t.Errorf("%d rules (-want +got):\n%s", len(r.List), diff)
	}
	if !bytes.Equal(encoded(t, read), before) {
		t.Error("the text differs when it is written again")
	}
	for i := 0; i < len(text); i += 97 {
		damaged := bytes.Clone(text)
		damaged[i] ^= 1
		if _, err := Parse("rules.json", damaged); err == nil {
			t.Errorf("byte %d may be another one", i)
		}
		if _, err := Parse("rules.json", text[:i]); err == nil {
			t.Errorf("%d bytes are enough", i)
		}
	}
}

// TestFileOfNoRules reads the files of a graph without rules, and of one without facts.
func TestFileOfNoRules(t *testing.T) {
	t.Parallel()
	for _, facts := range [][]graph.Fact{nil, chain(0, 5)} {
		r := mined(t, made(t, 1, facts), 1)
		read, err := Parse("rules.json", encoded(t, r))
		if err != nil || len(read.List)+len(r.Reasons(made(t, 1, facts), graph.Fact{Tail: 100}, 3)) > 0 {
			t.Errorf("%d facts: %v, %v", len(facts), read, err)
		}
	}
}

// forgeable returns some rules.
func forgeable() *Rules {
	return &Rules{FormatVersion: FormatVersion, Relations: 2, Functional: []int32{1, 3},
		List: []Rule{{0, []int32{1}, 5, 9, 8, 1}, {1, []int32{3, 0}, 3, 30, 30, 2}}}
}

// TestForgedFiles checks what is refused of files whose checksum holds.
func TestForgedFiles(t *testing.T) {
	t.Parallel()
	if _, err := Parse("rules.json", encoded(t, forgeable())); err != nil {
		t.Fatal(err)
	}
	for want, forge := range map[string]func(r *Rules){
		"format_version is 2":                      func(r *Rules) { r.FormatVersion++ },
		"relations is -1":                          func(r *Rules) { r.Relations = -1 },
		"functional[1] is 4, want ascending":       func(r *Rules) { r.Functional[1] = 4 },
		"functional[1] is 1, want ascending":       func(r *Rules) { r.Functional[1] = 1 },
		"rules[1].relation is 2, want 0 to 1":      func(r *Rules) { r.List[1].Relation = 2 },
		"rules[0].length of body is 0":             func(r *Rules) { r.List[0].Body = []int32{} },
		"rules[0].length of body is 4":             func(r *Rules) { r.List[0].Body = make([]int32, 4) },
		"rules[1].body is 4, want 0 to 3":          func(r *Rules) { r.List[1].Body[0] = 4 },
		"rules[0].support is 2, want 3 to 8":       func(r *Rules) { r.List[0].Support = 2 },
		"rules[0].cases is 10, want 0 to 9":        func(r *Rules) { r.List[0].Cases = 10 },
		"rules[1].every is 0":                      func(r *Rules) { r.List[1].Every = 0 },
		"rules[0].body is the relation itself":     func(r *Rules) { r.List[0].Body[0] = 0 },
		"rules[1].confidence is 0.09":              func(r *Rules) { r.List[1].Cases, r.List[1].Pairs = 33, 33 },
		"rules[1].relation and body do not ascend": func(r *Rules) { r.List[1] = r.List[0] },
		"null instead of a list":                   func(r *Rules) { r.List = nil },
	} {
		r := forgeable()
		forge(r)
		text := encoded(t, r)
		if _, err := Parse("rules.json", text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "rules.json") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestMissingKeys holds that a file has its lists, though decoding does not ask for them.
func TestMissingKeys(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"functional", "rules"} {
		text := `{"format_version":1,"` + key + `":[],"checksum":"` + storage.BlankChecksum + `"}`
		if _, err := Parse("rules.json", again(t, []byte(text))); err == nil || !strings.Contains(err.Error(), "rules are missing") {
			t.Errorf("with %s alone: error %v", key, err)
		}
	}
}

// again returns a text with the checksum of what it says.
func again(t testing.TB, text []byte) []byte {
	at := bytes.LastIndex(text, []byte(`":"`)) + 3
	if at < 3 || at+len(storage.BlankChecksum) > len(text) {
		return text
	}
	copy(text[at:], storage.BlankChecksum)
	if err := storage.SetChecksum(text, checksumKey); err != nil {
		t.Skip(err)
	}
	return text
}

// FuzzParse reads any text, with a checksum that holds: what is accepted is written again as it was.
func FuzzParse(f *testing.F) {
	f.Add(string(encoded(f, forgeable())))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse("rules.json", again(t, []byte(text)))
		if err != nil {
			return
		}
		read, err := Parse("rules.json", encoded(t, r))
		if err != nil {
			t.Fatal(err)
		}
		if r.Checksum = read.Checksum; !cmp.Equal(r, read) {
			t.Errorf("%v is read as %v", r, read)
		}
	})
}
