package strict

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type document struct {
	Name  string             `json:"name"`
	Seeds []int64            `json:"seeds"`
	Rate  float64            `json:"rate"`
	Sub   *part              `json:"sub,omitempty"`
	Parts map[string]part    `json:"parts"`
	Any   json.RawMessage    `json:"any"`
	Sizes map[string]float64 `json:"sizes"`
}

type embedding struct {
	part
	Own int `json:"own"`
}

func TestEmbeddedStruct(t *testing.T) {
	t.Parallel()
	got := embedding{part: part{On: true}}
	if err := Decode("f.json", []byte(`{"count": 3, "own": 4}`), &got); err != nil || got != (embedding{part{true, 3}, 4}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := Decode("f.json", []byte(`{"part": {}}`), &got); err == nil || err.Error() != `f.json:1:2: unknown key "part"; the closest are count, on, own` {
		t.Error(err)
	}
}

type part struct {
	On    bool `json:"on"`
	Count int  `json:"count"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	text := `{"name": "a", "seeds": [1, 2], "rate": 1, "sub": {"on": true}, "parts": {"x": {"count": 3}}, "any": [{"on": null}], "sizes": {"s": 0.5}}`
	got := document{Parts: map[string]part{"y": {}}, Rate: 7}
	if err := Decode("f.json", []byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := document{Name: "a", Seeds: []int64{1, 2}, Rate: 1, Sub: &part{On: true}, Parts: map[string]part{"x": {Count: 3}, "y": {}},
		Any: json.RawMessage(`[{"on": null}]`), Sizes: map[string]float64{"s": .5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeNamesTheMistake(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n  \"nmae\": 1}":               `f.json:2:3: unknown key "nmae"; the closest are name, rate, any`,
		`{"Name": "a"}`:                   `f.json:1:2: unknown key "Name"; the closest are name, rate, any`,
		"{\"name\": \"a\",\n\"name\": 3}": `f.json:2:1: "name" stands twice`,
		`{"name": 3}`:                     `f.json:1:10: name: a number instead of a text`,
		`{"name": null}`:                  `f.json:1:10: name: null instead of a text`,
		`{"seeds": [1, 2.5]}`:             `f.json:1:15: seeds: 2.5 instead of a whole number`,
		`{"seeds": 1}`:                    `f.json:1:11: seeds: a number instead of a list`,
		`{"sub": {"count": true}}`:        `f.json:1:19: sub.count: true or false instead of a whole number`,
		`{"parts": {"x": {"cont": 1}}}`:   `f.json:1:18: unknown key "cont"; the closest are count, on`,
		`{"parts": {"x": 1, "x": 2}}`:     `f.json:1:17: parts.x: a number instead of an object`,
		`{"rate": 1e999}`:                 `f.json:1:14: rate: number 1e999 is out of range`,
		"{} {}":                           `f.json:1:4: invalid character '{' after top-level value`,
		"{\n\"name\": \"a\"\n":            `f.json:2:12: unexpected end of JSON input`,
		"":                                `f.json:1:1: unexpected end of JSON input`,
		"[]":                              `f.json:1:1: a list instead of an object`,
		"{\n  'name': 1}":                 `f.json:2:3: invalid character '\'' looking for beginning of object key string`,
	} {
		var got document
		if err := Decode("f.json", []byte(text), &got); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

type flavor string

func (f *flavor) UnmarshalJSON(text []byte) error {
	if string(text) != `"sweet"` {
		return errors.New("not sweet")
	}
	*f = "sweet"
	return nil
}

func TestDecodeLocatesTheErrorsOfMethods(t *testing.T) {
	t.Parallel()
	var got struct {
		Flavors []flavor `json:"flavors"`
	}
	err := Decode("f.json", []byte(`{"flavors": ["sweet", "sour"]}`), &got)
	if want := "f.json:1:23: flavors: not sweet"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// FuzzDecode checks that what strict accepts, encoding/json accepts too, and that no text makes it panic.
func FuzzDecode(f *testing.F) {
	f.Add(`{"name": "a", "seeds": [1], "any": [[{}]], "sub": {"on": true}}`)
	f.Add(`{"parts": {"x": {"count": 3}}, "sizes": {"s": 1e3}} x`)
	f.Fuzz(func(t *testing.T, text string) {
		var got, loose document
		err := Decode("f.json", []byte(text), &got)
		if err != nil {
			var located *Error
			located, ok := err.(*Error)
			if !ok || located.Line < 1 || located.Column < 1 {
				t.Fatalf("%q: error %v", text, err)
			}
			return
		}
		if err := json.Unmarshal([]byte(text), &loose); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(loose, got); diff != "" {
			t.Error(diff)
		}
	})
}
