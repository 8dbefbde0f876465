package probability

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
)

func TestFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 200, 20, 1000, 1)
	m := w.fit(t, .5)
	m.Fingerprint = Fingerprint{Weights: "ab", Graph: "cd", Reach: 40}
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(text)
	read, err := Parse("p.json", text)
	if err != nil {
		t.Fatal(err)
	}
	m.Checksum = read.Checksum
	if diff := cmp.Diff(m, read); diff != "" {
		t.Error(diff)
	}
	again, err := read.Encode()
	if err != nil || !bytes.Equal(again, before) {
		t.Errorf("%v: the text differs when it is written again", err)
	}
	for i := 0; i < len(text); i += 97 {
		damaged := bytes.Clone(text)
		damaged[i] ^= 1
		if _, err := Parse("p.json", damaged); err == nil {
			t.Errorf("byte %d may be another one", i)
		}
		if _, err := Parse("p.json", text[:i]); err == nil {
			t.Errorf("%d bytes are enough", i)
		}
	}
}

// TestForgedFiles checks what is refused of files whose checksum holds.
func TestForgedFiles(t *testing.T) {
	t.Parallel()
	fitted, err := newWorld(t, 200, 20, 1000, 1).fit(t, .5).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for want, forge := range map[string]func(m *Model){
		"format_version is 5":             func(m *Model) { m.FormatVersion++ },
		"features are":                    func(m *Model) { m.Features[0] = "color" },
		"4 folds, want 5":                 func(m *Model) { m.Folds = m.Folds[1:] },
		"sample.rate is 2":                func(m *Model) { m.Sample.Rate = 2 },
		"sample.k is 0":                   func(m *Model) { m.Sample.K = 0 },
		"shift.heads is -1":               func(m *Model) { m.Shift.Heads = -1 },
		"folds[1].weights[0] is -0.5":     func(m *Model) { m.Folds[1].Weights[0] = -.5 },
		"folds[1].weights[3] is 0.5":      func(m *Model) { m.Folds[1].Weights[3] = .5 },
		"folds[2].deviations[4] is 0":     func(m *Model) { m.Folds[2].Deviations[4] = 0 },
		"folds[0].weights are 21":         func(m *Model) { m.Folds[0].Weights = m.Folds[0].Weights[1:] },
		"curve is empty":                  func(m *Model) { m.Curve.Blocks = []Block{} },
		"curve[1] does not ascend":        func(m *Model) { m.Curve.Blocks[1].From = m.Curve.Blocks[0].From },
		"curve[0].labeled is -1":          func(m *Model) { m.Curve.Blocks[0].Labeled = -1 },
		"own_intercepts are not the 2":    func(m *Model) { m.OwnIntercepts[1] = 2 },
		"by_relation are 4 relations":     func(m *Model) { m.Relations = m.Relations[:4] },
		"by_relation[0].facts is 3":       func(m *Model) { m.Relations[0].Facts = 3 },
		"by_relation[1].labeled is 201":   func(m *Model) { m.Relations[1].Labeled = 201 },
		"by_relation[2].labeled is -1":    func(m *Model) { m.Relations[2].Labeled = -1 },
		"by_relation.drawn is 50":         func(m *Model) { m.Relations[0].Drawn, m.Relations[0].Facts, m.Sample.Facts = 4905, 4905, 5000 },
		"by_relation[4].most is -0.5":     func(m *Model) { m.Relations[4].Most = -.5 },
		"by_relation[1].usual.deviation":  func(m *Model) { m.Relations[1].Usual.Deviation = -1 },
		"usual.deviation is -2":           func(m *Model) { m.Usual.Deviation = -2 },
		"by_relation[0].unlabeled is -1":  func(m *Model) { m.Relations[0].Unlabeled[0] = -1 },
		"by_relation[0].unlabeled has":    func(m *Model) { m.Relations[0].Unlabeled = make([]int, len(m.Curve.Blocks)+1) },
		"unlabeled observations by block": func(m *Model) { m.Relations[0].Unlabeled[0]++ },
		"labeled and":                     func(m *Model) { m.Relations[0].Labeled-- },
		"source.reach is -1":              func(m *Model) { m.Fingerprint.Reach = -1 },
	} {
		m, err := Parse("p.json", fitted)
		if err != nil {
			t.Fatal(err)
		}
		forge(m)
		text, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse("p.json", text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "p.json") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	text := bytes.Replace(fitted, []byte(`"facts"`), []byte(`"secret"`), 1)
	at := bytes.LastIndex(text, []byte(`": "`)) + 4
	copy(text[at:], storage.BlankChecksum)
	if err := storage.SetChecksum(text, checksumKey); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("p.json", text); err == nil || !strings.Contains(err.Error(), `unknown key "secret"`) {
		t.Errorf("error %v, want one of an unknown key", err)
	}
}

// TestTooFewIsKept checks the file of a sample with too few facts.
func TestTooFewIsKept(t *testing.T) {
	t.Parallel()
	m := Unfitted(Sample{K: 10, Relations: 3, Rate: 1, QueryDivisor: 1, CandidateDivisor: 1})
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Parse("p.json", text)
	if err != nil {
		t.Fatal(err)
	}
	m.Checksum = read.Checksum
	if diff := cmp.Diff(m, read); diff != "" || !read.TooFew {
		t.Error(diff)
	}
	m.Relations = []OfRelation{{Labeled: 20}, {}, {}}
	if err := m.Check(); err == nil {
		t.Error("it may have labeled facts")
	}
}

// TestFileOfManyRelations checks that a file has few bytes for a relation without labeled facts, so that no graph's is
// larger than what is read.
func TestFileOfManyRelations(t *testing.T) {
	t.Parallel()
	m := newWorld(t, 200, 20, 1000, 1).fit(t, .5)
	few, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const more = 200_000
	m.Sample.Relations += more
	m.Relations = append(m.Relations, slices.Repeat([]OfRelation{{Usual: m.Usual}}, more)...)
	many, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if bytes := len(many) - len(few); bytes > 8*more {
		t.Errorf("%d bytes for %d relations more, want 8 for each at most", bytes, more)
	}
	if _, err := Parse("p.json", many); err != nil {
		t.Error(err)
	}
}
