package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/infra/internal/program"
	"tagnet/model/graph"
	"tagnet/model/graph/synthetic"
)

// generate runs the command and returns the files' content.
func generate(t *testing.T, arguments ...string) (map[string]string, error) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "out")
	var out, diagnostics bytes.Buffer
	err := run(t.Context(), append([]string{"--out", folder}, arguments...), &out, &diagnostics)
	files := map[string]string{}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files, err
}

func facts(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// TestSeed holds that equal seeds give equal bytes, and others do not.
func TestSeed(t *testing.T) {
	first, err := generate(t, "--facts", "3000", "--seed", "7", "--relations", "20")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := generate(t, "--facts", "3000", "--seed", "7", "--relations", "20")
	other, _ := generate(t, "--facts", "3000", "--seed", "8", "--relations", "20")
	for name, text := range first {
		if again[name] != text || other[name] == text || other[name] == "" {
			t.Errorf("%s: again %v, with another seed %v", name, again[name] == text, other[name] == text)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct{ flag, value, says string }{
		{"facts", "0", "--facts is 0"}, {"entities", "-1", "--entities is -1"}, {"relations", "0", "--relations"},
		{"exponent", "2", "--exponent is 2"}, {"exponent", "NaN", "--exponent"}, {"exponent", "11", "--exponent"}, {"out", "", "--out"},
		{"entities", "3000000000", "--entities"}, {"valid", "0", "--valid"}, {"relations", "x", "relations"},
	} {
		_, err := generate(t, "--"+test.flag, test.value)
		if err == nil || !errors.As(err, new(program.UsageError)) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("--%s %s: %v", test.flag, test.value, err)
		}
	}
}

// TestNothingIsReplacedOrLeft checks that existing files stay, and that an interrupted run leaves none.
func TestNothingIsReplacedOrLeft(t *testing.T) {
	folder := t.TempDir()
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, []string{"--out", folder, "--facts", "1000"}, &out, &out); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
	if err := os.WriteFile(filepath.Join(folder, "test.txt"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"--out", folder, "--facts", "1000"}, &out, &out); err == nil ||
		!strings.Contains(err.Error(), "test.txt already exists") {
		t.Errorf("over a file: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "test.txt")); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestKinds makes graphs of the other kinds: about as many facts as were requested, none twice, and
// the same bytes again.
func TestKinds(t *testing.T) {
	for kind, flags := range map[string][]string{"rules": {"--entities", "2000", "--relations", "30"}, "shop": nil, "hierarchy": nil} {
		flags = append(flags, "--kind", kind, "--facts", "20000", "--seed", "4")
		files, err := generate(t, flags...)
		if err != nil {
			t.Fatal(err)
		}
		seen, trained := map[string]bool{}, map[string]bool{}
		for _, name := range []string{"train.txt", "valid.txt", "test.txt"} {
			for _, fact := range facts(files[name]) {
				names := strings.Split(fact, "\t")
				if seen[fact] || len(names) != 3 {
					t.Fatalf("%s: %s: %q stands twice, or is no fact", kind, name, fact)
				}
				seen[fact] = true
				for _, n := range names {
					if name == "train.txt" {
						trained[n] = true
					} else if kind != "rules" && !trained[n] {
						t.Errorf("%s: %s: %q is about %s, which is in no training fact", kind, name, fact, n)
					}
				}
			}
		}
		if train := len(facts(files["train.txt"])); train < 10_000 || train > 40_000 {
			t.Errorf("%s: %d training facts", kind, train)
		}
		if held := min(len(facts(files["valid.txt"])), len(facts(files["test.txt"]))); held < 100 {
			t.Errorf("%s: %d facts are held out", kind, held)
		}
		if kind == "rules" {
			checkRules(t, facts(files["rules.txt"]))
		}
		again, err := generate(t, flags...)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if again[name] != text {
				t.Errorf("%s: %s of the same seed differs", kind, name)
			}
		}
	}
	for bad, want := range map[string]string{
		"rules --valid 5": "--valid is not for", "rules --exponent 3": "--exponent is not for", "rules --entities 1": "entities", "ruled": "--kind is",
		"shop --relations 5": "--relations is not for", "hierarchy --entities 5": "--entities is not for",
		"rules --facts 99999999": "--facts is 99999999: with --kind rules", "shop --facts 99999999999": "--facts is 99999999999: with --kind shop",
		"hierarchy --facts 20": "--facts is 20: too few", "rules --facts 1": "entities 1 to 1: want 2 or more",
	} {
		files, err := generate(t, strings.Fields("--kind "+bad)...)
		if err == nil || !strings.Contains(err.Error(), want) || len(files) > 0 {
			t.Errorf("--kind %s: error %v, %d files", bad, err, len(files))
		}
	}
}

// checkRules checks the lines of rules.txt.
func checkRules(t *testing.T, rules []string) {
	t.Helper()
	if len(rules) < 5 {
		t.Errorf("%d rules", len(rules))
	}
	for _, rule := range rules {
		if !strings.Contains(rule, "(x, y) if ") || !strings.Contains(rule, ", confidence 0.") && !strings.Contains(rule, ", confidence 1.00") ||
			!strings.Contains(rule, ", y), ") {
			t.Errorf("rule %q", rule)
		}
	}
}

// TestRulesAreLearned divides facts of which one relation's are all held out.
func TestRulesAreLearned(t *testing.T) {
	t.Parallel()
	g := &synthetic.Graph{Relations: 2, Facts: []graph.Fact{{Head: 0, Relation: 0, Tail: 1}},
		HeldOut: []graph.Fact{{Head: 1, Relation: 0, Tail: 2}, {Head: 1, Relation: 1, Tail: 2}, {Head: 2, Relation: 0, Tail: 3},
			{Head: 0, Relation: 0, Tail: 3}}}
	train, valid, test := divide(g)
	for _, part := range []struct {
		name      string
		got, want []graph.Fact
	}{
		{"train", train, []graph.Fact{g.Facts[0], g.HeldOut[1]}}, {"valid", valid, []graph.Fact{g.HeldOut[0], g.HeldOut[2]}}, {"test", test, g.HeldOut[3:]},
	} {
		if !slices.Equal(part.got, part.want) {
			t.Errorf("%s has %v, want %v", part.name, part.got, part.want)
		}
	}
}
