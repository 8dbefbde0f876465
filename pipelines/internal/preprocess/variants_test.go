package preprocess

import (
	"strings"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestVariants warns of names that other programs changed without notice, and of no others.
func TestVariants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"spaces":                {"a\tr\tb \nb\tr\ta\n", `1 pair of names differ only by spaces around them, quotes, a ".0" or how accents are encoded, such as "b " and "b": if these are one entity, give it one name`},
		"spaces of other kinds": {"a\tr\tb\u00a0\nb\tr\ta\n", `such as "b\u00a0" and "b"`},
		"floats":                {"1.0\tr\t2\n1\tr\t2.0\n", `2 pairs of names differ only by spaces around them, quotes, a ".0" or how accents are encoded, such as "1.0" and "1"`},
		"quotes":                {"\"a\"\tr\tb\na\tr\tc\n", `such as "\"a\"" and "a"`},
		"accents":               {"Zoe\u0308\tr\tb\nZo\u00eb\tr\tc\n", `such as "Zoe\u0308" and "Zo\u00eb"`},
		"accents of one form":   {"Zoe\u0308\tr\tb\nb\tr\tc\n", ""},
		"relations":             {"a\tr \tb\na\tr\tc\n", `such as "r " and "r": if these are one relation`},
		"versions":              {"v1.0\tr\tv1\n1.00\tr\t1\n.0\tr\t0.\n", ""},
		"spaces alone":          {"a \tr\tb\nb\tr\tc\n", ""},
		"a quote inside":        {"\"a\tr\ta\n\"\"\tr\ta\"\n", ""},
	} {
		file := pipelinetest.Dataset(t, map[string]string{"facts.tsv": c.text}) + "/facts.tsv"
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", file)
		if c.want == "" && strings.Contains(out, "differ only by") {
			t.Errorf("%s: a warning: %s", name, out)
		}
		if !strings.Contains(out, c.want) {
			t.Errorf("%s: no %q in %s", name, c.want, out)
		}
	}
}
