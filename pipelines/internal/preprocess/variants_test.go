package preprocess

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestVariants warns of names that other programs changed without notice, and of no others.
func TestVariants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"spaces": {"a\tr\tb \nb\tr\ta\n",
			`1 pair of names differ only by spaces around them, quotes, a ".0" or how accents are encoded, such as "b " and "b": ` +
				`if these are one entity, give it one name`},
		"spaces of other kinds": {"a\tr\tb\u00a0\nb\tr\ta\n", `such as "b\u00a0" and "b"`},
		"floats": {"1.0\tr\t2\n1\tr\t2.0\n",
			`2 pairs of names differ only by spaces around them, quotes, a ".0" or how accents are encoded, such as "1.0" and "1"`},
		"quotes":              {"\"a\"\tr\tb\na\tr\tc\n", `such as "\"a\"" and "a"`},
		"accents":             {"Zoe\u0308\tr\tb\nZo\u00eb\tr\tc\n", `such as "Zoe\u0308" and "Zo\u00eb"`},
		"accents of one form": {"Zoe\u0308\tr\tb\nb\tr\tc\n", ""},
		"relations":           {"a\tr \tb\na\tr\tc\n", `such as "r " and "r": if these are one relation`},
		"versions":            {"v1.0\tr\tv1\n1.00\tr\t1\n.0\tr\t0.\n", ""},
		"spaces alone":        {"a \tr\tb\nb\tr\tc\n", ""},
		"a quote inside":      {"\"a\tr\ta\n\"\"\tr\ta\"\n", ""},
	} {
		folder := "mem://" + t.Name() + "/" + strings.ReplaceAll(name, " ", "-")
		entities, relations := map[string]bool{}, map[string]bool{}
		for line := range strings.Lines(c.text) {
			fact := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			entities[fact[0]], relations[fact[1]], entities[fact[2]] = true, true, true
		}
		writeNames(t, storage.Join(folder, kg.EntitiesFile), tables.Entities, entities)
		writeNames(t, storage.Join(folder, kg.RelationsFile), tables.Relations, relations)
		got, err := variants(t.Context(), folder)
		if err != nil || len(got) > 1 || (len(got) == 0) != (c.want == "") || len(got) == 1 && !strings.Contains(got[0], c.want) {
			t.Errorf("%s: warnings %q, error %v, want %q", name, got, err, c.want)
		}
	}
	file := pipelinetest.Dataset(t, map[string]string{"facts.tsv": "a\tr\tb \nb\tr\ta\n"}) + "/facts.tsv"
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", file); !strings.Contains(out, `such as "b " and "b"`) {
		t.Errorf("the warning is not printed: %s", out)
	}
}

// writeNames writes a table of names.
func writeNames(t *testing.T, url, schema string, names map[string]bool) {
	t.Helper()
	w, err := tables.CreateNames(t.Context(), url, schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if err := w.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}
