package tables

import (
	"context"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var partSizes = PartSizes{Entities: 60, BaseRelations: 3}

// samplePart returns the i-th part of a sample, of one to four queries.
func samplePart(i int) Part {
	s := int32(i % 50)
	p := Part{
		Source: s, Entities: []int32{s, s + 2, s + 9}, Counts: []int32{1, 0, 3}, Degrees: []int32{1, 4, 70},
		Senders: []int32{2, 0, 0, 1}, Relations: []int32{1, 4, 5, 0},
		Asked: []int32{0, 2, 2, 5}[:1+i%4], Known: []int32{}, KnownCounts: []int32{},
	}
	for j, relation := range p.Asked {
		p.Numbers, p.Answers = append(p.Numbers, int64(5*i+j)), append(p.Answers, s+int32(j))
		if j > 0 && p.Asked[j-1] == relation {
			continue
		}
		p.Known, p.KnownCounts = append(p.Known, []int32{s, s + 1, s + 7, s + 8}[:j+1]...), append(p.KnownCounts, int32(j+1))
	}
	return p
}

func sampleParts(n int) []Part {
	var parts []Part
	for i := range n {
		parts = append(parts, samplePart(i))
	}
	return parts
}

func writeParts(ctx context.Context, url string, parts []Part) error {
	w, err := CreateParts(ctx, url, partSizes)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, p := range parts {
		if err := w.Write(p); err != nil {
			return err
		}
	}
	return w.Commit()
}

// EachPart calls each for the parts of a file, in order.
func EachPart(ctx context.Context, url string, s PartSizes, each func(Part) error) error {
	r, err := OpenParts(ctx, url, s)
	if err != nil {
		return err
	}
	defer r.Close()
	for i := range r.Batches() {
		parts, err := r.Batch(i)
		if err != nil {
			return err
		}
		for _, p := range parts {
			if err := each(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func readParts(ctx context.Context, url string) (parts []Part, err error) {
	err = EachPart(ctx, url, partSizes, func(p Part) error {
		parts = append(parts, p)
		return nil
	})
	return parts, err
}

// TestPartsAreFound looks queries up by their numbers.
func TestPartsAreFound(t *testing.T) {
	t.Parallel()
	url := "mem://" + t.Name() + "/parts.arrow"
	if err := writeParts(t.Context(), url, sampleParts(9000)); err != nil {
		t.Fatal(err)
	}
	r, err := OpenParts(t.Context(), url, partSizes)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Batches() < 4 || r.Rows() != 9000 {
		t.Errorf("%d parts in %d batches", r.Rows(), r.Batches())
	}
	if got := r.Find(-1); got != -1 {
		t.Errorf("query -1 is in batch %d", got)
	}
	for i := 0; i < 9000; i += 97 {
		want := samplePart(i)
		parts, err := r.Batch(r.Find(want.Numbers[len(want.Numbers)-1]))
		if err != nil {
			t.Fatal(err)
		}
		var got Part
		for _, p := range parts {
			if p.Numbers[0] == want.Numbers[0] {
				got = p
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("part %d (-want +got):\n%s", i, diff)
		}
	}
	if _, err := OpenParts(t.Context(), url, PartSizes{Entities: 61, BaseRelations: 3}); err == nil || !strings.Contains(err.Error(), "60 entities") ||
		!strings.Contains(err.Error(), url) {
		t.Errorf("parts of another graph: error %v", err)
	}
}

// TestInconsistentPartsAreRefused changes a part in each way that a reader would stumble over.
func TestInconsistentPartsAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *Part){
		"a source elsewhere":       func(p *Part) { p.Source++ },
		"entities unordered":       func(p *Part) { p.Entities[2] = p.Entities[1] },
		"an entity beyond":         func(p *Part) { p.Entities[2] = 60 },
		"a count too many":         func(p *Part) { p.Counts = append(p.Counts, 0) },
		"a negative count":         func(p *Part) { p.Counts[1], p.Counts[0] = -1, 2 },
		"a count too large":        func(p *Part) { p.Counts[2]++ },
		"a count too small":        func(p *Part) { p.Counts[0] = 0 },
		"fewer degrees than edges": func(p *Part) { p.Degrees[2] = 2 },
		"no degrees":               func(p *Part) { p.Degrees = nil },
		"a sender beyond":          func(p *Part) { p.Senders[3] = 3 },
		"a negative sender":        func(p *Part) { p.Senders[0] = -1 },
		"an edge without relation": func(p *Part) { p.Relations = p.Relations[:3] },
		"a relation beyond":        func(p *Part) { p.Relations[0] = 6 },
		"edges unordered":          func(p *Part) { p.Relations[1], p.Relations[2] = 5, 4 },
		"an edge twice":            func(p *Part) { p.Relations[1] = 5 },
		"senders unordered":        func(p *Part) { p.Senders[2], p.Senders[3] = 1, 0 },
		"no queries":               func(p *Part) { p.Numbers, p.Asked, p.Answers, p.Known, p.KnownCounts = nil, nil, nil, nil, nil },
		"a query without answer":   func(p *Part) { p.Answers = p.Answers[:3] },
		"a query without relation": func(p *Part) { p.Asked = p.Asked[:3] },
		"queries unordered":        func(p *Part) { p.Numbers[1] = p.Numbers[2] },
		"relations unordered":      func(p *Part) { p.Asked[0] = 3 },
		"an asked relation beyond": func(p *Part) { p.Asked[3] = 6 },
		"an answer beyond":         func(p *Part) { p.Answers[1] = 60 },
		"known unordered":          func(p *Part) { p.Known[2] = p.Known[1] },
		"a known answer beyond":    func(p *Part) { p.Known[6] = 60 },
		"known without a count":    func(p *Part) { p.KnownCounts[2]-- },
		"a count without known":    func(p *Part) { p.KnownCounts[2]++ },
		"a relation without known": func(p *Part) { p.KnownCounts = p.KnownCounts[:2] },
	} {
		url := "mem://" + t.Name() + "/parts.arrow"
		p := samplePart(3)
		change(&p)
		if err := writeParts(t.Context(), url, []Part{p}); err == nil || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
