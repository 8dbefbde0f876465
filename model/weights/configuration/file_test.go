package configuration

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestParsePreset(t *testing.T) {
	t.Parallel()
	c, err := ParsePreset("f.json", []byte(`{"layers": 8, "preset": "wn18rr", "dependent": true, "provenance": {"any": [1, null]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := Preset("wn18rr")
	want.Layers, want.Dependent = 8, true
	if c != want {
		t.Errorf("%s\nwant\n%s", c, want)
	}
	if c, err := ParsePreset("f.json", []byte(`{}`)); err != nil || c != Default() {
		t.Errorf("an empty object: %v\n%s", err, c)
	}
	whole, _ := Preset("fb-v3-specific")
	if c, err := ParsePreset("f.json", []byte(whole.String())); err != nil || c != whole {
		t.Errorf("a whole configuration: %v\n%s", err, c)
	}
}

func TestMistakesOfPresetFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n  \"lairs\": 3}":                                       `f.json:2:3: unknown key "lairs"; the closest are layers, `,
		"{\"dim\": 8,\n \"dim\": 16}":                              `f.json:2:2: "dim" stands twice`,
		"{\"dropout\": 0,\n \"preset\": \"wn18r\"}":                `f.json:2:2: unknown preset "wn18r": the closest are wn18rr, `,
		`{"preset": "other.json"}`:                                 `f.json:1:2: unknown preset "other.json"`,
		"{\"delta\": 1,\n \"layers\": 0}":                          "f.json:2:2: layers is 0: want 1 to 14",
		"{\n\"delta_mode\": \"specific\", \"attention\": \"all\"}": `f.json:2:27: attention is "all": want one of own, shared`,
		"{\"layers\": 15,\n\n\n \"batch_size\": -1}":               "f.json:1:2: layers is 15: want 1 to 14\nf.json:4:2: batch_size is -1: want 1 or more",
		`{"learning_rate": "fast"}`:                                "f.json:1:19: learning_rate: ",
		"[]":                                                       "f.json:1:1: ",
		"":                                                         "f.json:1:1: ",
		"{\"preset\": \"wn18rr\",\n\"negatives\": 0}":              "f.json:2:1: negatives is 0",
	} {
		if _, err := ParsePreset("f.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestOpenPreset(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "wn18rr.json")
	if err := os.WriteFile(file, []byte(`{"preset": "wn18rr", "layers": 7}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if c, err := OpenPreset(context.Background(), file); err != nil || c.Layers != 7 || c.Delta != 3 {
		t.Errorf("the file: %v\n%s", err, c)
	}
	if c, err := OpenPreset(context.Background(), "wn18rr"); err != nil || c.Layers != 6 {
		t.Errorf("the name: %v\n%s", err, c)
	}
	for preset, want := range map[string]bool{"wn18rr": false, "wn18rr.json": true, "./wn18rr": true, "gs://b/p": true, `folder\p`: true, "": false} {
		if IsPresetFile(preset) != want {
			t.Errorf("%q is a file: %v, want %v", preset, !want, want)
		}
	}
}

func TestOwnPresets(t *testing.T) {
	t.Parallel()
	read := func(text string) (map[string]Configuration, error) {
		return readFound(fstest.MapFS{
			"presets/b.json": {Data: []byte(text)}, "presets/a.json": {Data: []byte(`{"layers": 3}`)}, "presets/README.md": {Data: []byte("# Presets")},
		})
	}
	o, err := read(`{"preset": "wn18rr", "layers": 8}`)
	if err != nil || len(o) != 2 || o["b"].Layers != 8 || o["b"].Delta != 3 || o["a"].Layers != 3 {
		t.Errorf("%v: %+v", err, o)
	}
	if _, err := read(`{"preset": "a"}`); err == nil || !strings.HasPrefix(err.Error(), `presets/b.json:1:2: unknown preset "a"`) {
		t.Errorf("a preset over one that is not the authors': %v", err)
	}
	for _, name := range FoundPresetNames() {
		if _, authors := authorsPreset(name); authors {
			t.Errorf("presets/%s.json hides a preset of the authors", name)
		}
	}
}
