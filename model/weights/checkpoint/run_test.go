package checkpoint

import (
	"errors"
	"strings"
	"testing"

	"tagnet/formats/storage"
)

func TestCheckRun(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"main": true, "wide-2": true, "0.5_dropout": true, strings.Repeat("x", 128): true,
		"": false, ".": false, "..": false, ".hidden": false, "-rf": false, "a/b": false, `a\b`: false, "a b": false, "a\nb": false,
		"gs:": false, "ä": false, strings.Repeat("x", 129): false,
	} {
		if err := CheckRun(name); (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestWeightsWithoutTheirRecord checks that the error of weights that were copied alone names the file that is missing.
func TestWeightsWithoutTheirRecord(t *testing.T) {
	t.Parallel()
	for epochs, name := range map[int]string{1: "epoch-001", 3: "epoch-002"} { // alone, and beside others
		f := folderOf(t)
		for epoch := 1; epoch <= epochs; epoch++ {
			save(t, f, record(epoch, 0))
		}
		if err := storage.Remove(t.Context(), f.url(name+".json")); err != nil {
			t.Fatal(err)
		}
		_, _, err := f.Load(t.Context(), name)
		if want := name + ".safetensors lacks its record, " + name + ".json, beside it: copy both"; !errors.Is(err, ErrUnknown) ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q at the end", err, want)
		}
	}
}

// TestUnknownNamesAreBounded checks that the error of an unknown epoch of a long training lists a few.
func TestUnknownNamesAreBounded(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	for epoch := 1; epoch <= 9; epoch++ {
		save(t, f, record(epoch, 0))
	}
	_, err := f.Record(t.Context(), "epoch-999")
	if want := "there are best, last, epoch-001, epoch-002, epoch-003, 3 more, epoch-007, epoch-008, epoch-009"; !errors.Is(err, ErrUnknown) ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %q at the end", err, want)
	}
}
