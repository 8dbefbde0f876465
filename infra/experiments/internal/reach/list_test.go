package reach

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadListNamesTheMistake(t *testing.T) {
	t.Parallel()
	const text = `{"protocol": [], "percents": [5, 100],
 "sets": [{"name": "a", "dataset": "a", "train": ""},
  {"name": "b", "dataset": "b", "inference": "b_ind", "train": "--epochs 2", "limit": 7}]}`
	file := filepath.Join(t.TempDir(), ListFile)
	for _, c := range [][3]string{
		{"", "", ""},
		{`[5, 100]`, `[100, 5]`, ":1:"},
		{`[5, 100]`, `[5]`, "the last of percents has to be 100"},
		{`"b", "dataset"`, `"a", "dataset"`, `:3:3: set "a": the name stands twice`},
		{`"b_ind"`, `"/b_ind"`, "folders below that of the data"},
		{`"limit": 7`, `"limit": -7`, "limit is -7, want 0 or more"},
		{`"limit"`, `"limits"`, "limits"},
	} {
		if err := os.WriteFile(file, []byte(strings.Replace(text, c[0], c[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadList(t.Context(), file)
		if c[2] == "" && err != nil || c[2] != "" && (err == nil || !strings.Contains(err.Error(), c[2])) {
			t.Errorf("%q instead of %q: error %v, want %q", c[1], c[0], err, c[2])
		}
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	list := List{Percents: []int{2, 50, 100}, Sets: []Set{{Name: "a"}, {Name: "ab"}}}
	for patterns, want := range map[string][]string{
		"":           {"a/100", "a/50", "a/2", "ab/100", "ab/50", "ab/2"},
		"ab":         {"ab/100", "ab/50", "ab/2"},
		"a*/2,a/100": {"a/100", "a/2", "ab/2"},
	} {
		items, err := list.Items(patterns)
		var got []string
		for _, i := range items {
			got = append(got, i.ID())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", patterns, got, err, want)
		}
	}
	if _, err := list.Items("a/3"); err == nil {
		t.Error("a/3 matches something")
	}
}
