package checksum

import (
	"errors"
	"testing"
)

func TestVerifyOfWhatSetMade(t *testing.T) {
	for _, lead := range []string{`{"hash":"`, `{"hash": "`} {
		text := []byte(lead + Blank + `","x":1}`)
		if err := Set(text, "hash"); err != nil {
			t.Fatal(err)
		}
		before := string(text)
		if err := Verify(text, "hash"); err != nil || string(text) != before {
			t.Errorf("error %v, or the text changed", err)
		}
		text[len(text)-2]++
		if err := Verify(text, "hash"); !errors.Is(err, ErrBroken) {
			t.Errorf("other text: %v", err)
		}
	}
}

func TestTextsWithoutChecksum(t *testing.T) {
	for text, want := range map[string]error{
		`{}`:                ErrMissing,
		`{"hash":"00"}`:     ErrBroken,
		`{"hash":"` + Blank: ErrBroken,
		`{"hash":"` + Blank + `","y":{"hash":"` + Blank + `"}}`: ErrBroken,
		`{"hash":"1` + Blank[1:] + `"}`:                         ErrBroken,
	} {
		if err := Set([]byte(text), "hash"); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", text, err, want)
		}
	}
}
