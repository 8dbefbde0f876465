package storage

import (
	"errors"
	"testing"
)

func TestVerifyOfWhatSetMade(t *testing.T) {
	for _, lead := range []string{`{"hash":"`, `{"hash": "`} {
		text := []byte(lead + BlankChecksum + `","x":1}`)
		if err := SetChecksum(text, "hash"); err != nil {
			t.Fatal(err)
		}
		before := string(text)
		if err := VerifyChecksum(text, "hash"); err != nil || string(text) != before {
			t.Errorf("error %v, or the text changed", err)
		}
		text[len(text)-2]++
		if err := VerifyChecksum(text, "hash"); !errors.Is(err, ErrChecksum) {
			t.Errorf("other text: %v", err)
		}
	}
}

func TestTextsWithoutChecksum(t *testing.T) {
	for text, want := range map[string]error{
		`{}`:                        ErrNoChecksum,
		`{"hash":"00"}`:             ErrChecksum,
		`{"hash":"` + BlankChecksum: ErrChecksum,
		`{"hash":"` + BlankChecksum + `","y":{"hash":"` + BlankChecksum + `"}}`: ErrChecksum,
		`{"hash":"1` + BlankChecksum[1:] + `"}`:                                 ErrChecksum,
	} {
		if err := SetChecksum([]byte(text), "hash"); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", text, err, want)
		}
	}
}
