package checkpoint

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/model/prior"
)

// TestPrior checks that a prior is read as it was saved, over the relations of a graph, and that a file of other weights or a damaged one is refused.
func TestPrior(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	save(t, f, record(1, 0.5), record(2, 0.4))
	one, err := f.Record(t.Context(), "epoch-001")
	if err != nil {
		t.Fatal(err)
	}
	relations := one.Vocabulary.Relations
	if p, err := f.Prior(t.Context(), one, relations); p != nil || err != nil {
		t.Errorf("a checkpoint without a prior: %+v, %v", p, err)
	}
	n := 2 * len(relations)
	saved := &prior.Prior{Weight: prior.Weight{Beta: .15, Cap: 6}, Without: .5, With: .625}
	for i := range n * n {
		saved.Lambda = append(saved.Lambda, float32(i)-2.5)
	}
	saved.Constant = saved.Lambda[:n]
	if err := f.SavePrior(t.Context(), one, saved); err != nil {
		t.Fatal(err)
	}
	read, err := f.Prior(t.Context(), one, relations)
	if err != nil || saved.Checksum == "" {
		t.Fatal(saved.Checksum, err)
	}
	if diff := cmp.Diff(saved, read); diff != "" {
		t.Error(diff)
	}
	last := len(relations) - 1
	if read, err = f.Prior(t.Context(), one, relations[last:]); err != nil {
		t.Fatal(err)
	}
	at := func(q, r int) float32 { return saved.Lambda[q*n+r] }
	if want := []float32{at(last, last), at(last, n-1), at(n-1, last), at(n-1, n-1)}; !slices.Equal(read.Lambda, want) || !slices.Equal(read.Constant, []float32{saved.Constant[last], saved.Constant[n-1]}) {
		t.Errorf("over one relation: %v, want %v", read.Counts, want)
	}
	if _, err := f.Prior(t.Context(), one, []string{"unknown"}); !errors.Is(err, ErrMismatch) {
		t.Errorf("over an unknown relation: %v", err)
	}
	two, err := f.Record(t.Context(), "epoch-002")
	if err != nil {
		t.Fatal(err)
	}
	file, err := storage.ReadFile(t.Context(), f.PriorURL("epoch-001"))
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(file)
	flipped[len(flipped)-3] ^= 1
	for name, content := range map[string][]byte{"of other weights": file, "cut short": file[:len(file)/2], "empty": nil, "flipped": flipped} {
		if err := storage.WriteFile(t.Context(), f.PriorURL("epoch-002"), content); err != nil {
			t.Fatal(err)
		}
		var damaged *DamagedError
		if p, err := f.Prior(t.Context(), two, relations); !errors.As(err, &damaged) || p != nil || !strings.HasSuffix(damaged.URL, "/epoch-002.prior.safetensors") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	saved.Lambda[3] = float32(math.NaN())
	if err := f.SavePrior(t.Context(), two, saved); err != nil {
		t.Fatal(err)
	}
	if p, err := f.Prior(t.Context(), two, relations); !errors.As(err, new(*DamagedError)) || p != nil {
		t.Errorf("a number that is not finite: %+v, %v", p, err)
	}
	if _, name := Locate(f, f.PriorURL("epoch-001")); name != "epoch-001" {
		t.Errorf("the path of a prior is that of %s", name)
	}
	if err := f.Prune(t.Context()); err != nil || !slices.Contains(fileNames(t, f), "epoch-001"+priorEnding) {
		t.Errorf("Prune left %v, %v", fileNames(t, f), err)
	}
	if err := f.Remove(t.Context(), "epoch-001"); err != nil || slices.Contains(fileNames(t, f), "epoch-001"+priorEnding) {
		t.Errorf("Remove left %v, %v", fileNames(t, f), err)
	}
}

// TestCalibrationOfOtherScores checks that a calibration counts only for scores with the prior that it was fitted with.
func TestCalibrationOfOtherScores(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	save(t, f, record(1, 0.5))
	one := calibrate(t, f, "epoch-001")
	c, err := f.Calibration(t.Context(), one, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Prior = "abc"
	if err := f.SaveCalibration(t.Context(), one, c); err != nil {
		t.Fatal(err)
	}
	var lost *DamagedError // a prior is missing that the calibration knows
	if p, err := f.Prior(t.Context(), one, one.Vocabulary.Relations); p != nil || !errors.As(err, &lost) {
		t.Errorf("a lost prior: %+v, %v", p, err)
	}
	for prior, want := range map[string]bool{"": false, "abc": true, "def": false} {
		if c, err := f.Calibration(t.Context(), one, prior); err != nil || (c != nil) != want {
			t.Errorf("prior %q: %+v, %v", prior, c, err)
		}
	}
}
