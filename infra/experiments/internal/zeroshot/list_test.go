package zeroshot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// committed is the list of the repository.
const committed = "../../" + ListFile

// TestSeen checks what the models of the committed list have seen.
func TestSeen(t *testing.T) {
	t.Parallel()
	list, err := ReadList(t.Context(), committed)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"umls": "", "hm-1k": "", "wikitopics-sci": "", "pediatypes-EN2FR": "", "ingram-NL-25": "4g 50g", "nell-995": "4g 50g", "ilpc22-small": "3g 4g 50g zero",
		"codex-s": "3g 4g 50g zero", "ingram-FB-75": "3g 4g 50g zero", "fb237_v3": "3g 4g 50g zero", "WN18RR_v1": "3g 4g 50g zero", "wn18rr": "3g 4g 50g zero", "codex-m": "3g 4g 50g zero",
	}
	for _, g := range list.Graphs {
		var seen []string
		for _, m := range list.Models {
			if list.Seen(m, g) {
				seen = append(seen, m.Name)
			}
		}
		if expected, ok := want[g.Name]; ok && strings.Join(seen, " ") != expected {
			t.Errorf("%s is seen by %v, want %q", g.Name, seen, expected)
		}
		delete(want, g.Name)
	}
	if len(want) > 0 {
		t.Errorf("the list lacks %v", want)
	}
}

func TestReadListNamesTheMistake(t *testing.T) {
	t.Parallel()
	const text = `{"protocol": [],
 "models": [{"name": "a", "file": "a.pth", "sha256": "0", "epochs": 1},
  {"name": "b", "model": "b", "trained_as": "a", "epochs": 1}],
 "graphs": [{"name": "x", "folder": "x"},
  {"name": "y", "folder": "y_ind", "training": "y", "protocol": "valid-and-test", "facts_of": {"x": 1}}]}`
	path := filepath.Join(t.TempDir(), "list.json")
	read := func(text string) error {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadList(t.Context(), path)
		return err
	}
	if err := read(text); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"epochs": 1}]`, `"epochs": 0}]`, `:3:3: model "b": epochs is 0, want 1 or more`},
		{`"epochs": 1}]`, `"epochs": 1, "epochs_alone": -1}]`, `:3:3: model "b": epochs_alone is -1, want 0 or more`},
		{`"model": "b"`, `"model": "b", "file": "b.pth"`, `:3:3: model "b": either file or model is needed`},
		{`"sha256": "0", `, ``, `:2:13: model "a": file and sha256 belong together`},
		{`"file": "a.pth"`, `"file": "/a.pth"`, `:2:13: model "a": file "/a.pth" is not below the folder of the data`},
		{`"trained_as": "a"`, `"trained_as": "c"`, `:3:3: model "b": trained_as names no model: "c"`},
		{`"name": "b"`, `"name": "a"`, `:3:3: model "a": the name stands twice`},
		{`"name": "y"`, `"name": "x"`, `:5:3: graph "x": the name stands twice`},
		{`"name": "x"`, `"name": "../x"`, `:4:13: graph "../x": name has letters`},
		{`"folder": "x"`, `"folder": "../x"`, `:4:13: graph "x": folder "../x" is not below the folder of the data`},
		{`"training": "y", `, ``, `:5:3: graph "y": protocol valid-and-test needs training`},
		{`valid-and-test`, `grail`, `:5:3: graph "y": protocol is "grail", want valid-and-test or none`},
		{`{"x": 1}`, `{"x": 2}`, `:5:3: graph "y": facts_of x is 2, want 0 to 1`},
		{`"training"`, `"trained"`, `:5:`},
	} {
		changed := strings.Replace(text, c[0], c[1], 1)
		if err := read(changed); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s instead of %s: error %v, want %q", c[1], c[0], err, c[2])
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	list := List{Graphs: []Graph{{Name: "a-1"}, {Name: "a-2"}, {Name: "b"}}}
	for patterns, want := range map[string]string{"": "a-1 a-2 b", "b,a-1": "a-1 b", "a-*": "a-1 a-2", "*": "a-1 a-2 b"} {
		graphs, err := list.Select(patterns)
		var got []string
		for _, g := range graphs {
			got = append(got, g.Name)
		}
		if err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q selects %v, want %s; error %v", patterns, got, want, err)
		}
	}
	for patterns, want := range map[string]string{"c": `no graph matches "c"`, "a-*,c": `"c"`, "[": "not a pattern", "a-*,": `""`} {
		if _, err := list.Select(patterns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", patterns, err, want)
		}
	}
}
