package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
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

// TestFactsAreDistinct makes graphs of several shapes, dense ones among them: as many facts as were
// requested, none of them twice in any file, and every relation of valid and test in train.
func TestFactsAreDistinct(t *testing.T) {
	for _, test := range []struct {
		facts, entities, relations int
		exponent                   string
	}{
		{20_000, 2000, 50, "2.5"}, {20_000, 300, 200, "2.2"}, {5000, 20_000, 7, "3"}, {900, 3, 250, "2.5"}, {10_000, 60, 100, "9"},
	} {
		held := max(1, test.facts/50)
		files, err := generate(t, "--facts", fmt.Sprint(test.facts-2*held), "--valid", fmt.Sprint(held), "--test", fmt.Sprint(held),
			"--entities", fmt.Sprint(test.entities), "--relations", fmt.Sprint(test.relations), "--exponent", test.exponent)
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		seen := map[string]bool{}
		for name, n := range map[string]int{"train.txt": test.facts - 2*held, "valid.txt": held, "test.txt": held} {
			lines := facts(files[name])
			if len(lines) != n {
				t.Errorf("%+v: %s has %d lines", test, name, len(lines))
			}
			for _, line := range lines {
				if seen[line] {
					t.Fatalf("%+v: %q stands twice", test, line)
				}
				seen[line] = true
				if fields := strings.Split(line, "\t"); len(fields) != 3 || fields[0][0] != 'e' || fields[1][0] != 'r' || fields[2][0] != 'e' {
					t.Fatalf("%q is no fact", line)
				}
			}
		}
		if len(files) != 3 {
			t.Errorf("%d files", len(files))
		}
	}
}

// TestDegreesFollowThePowerLaw compares the share of entities of at least each degree with the
// law, over two orders of magnitude, and the largest hub with what the command says.
func TestDegreesFollowThePowerLaw(t *testing.T) {
	for _, exponent := range []float64{2.3, 2.5, 3} {
		const entities, n = 20_000, 200_000
		g, err := newGenerator(n, entities, 1000, exponent, 1)
		if err != nil {
			t.Fatal(err)
		}
		outgoing, incoming := make([]int, entities), make([]int, entities)
		for i := range int64(n) {
			f := g.at(i)
			outgoing[f.head]++
			incoming[f.tail]++
		}
		for name, degrees := range map[string][]int{"outgoing": outgoing, "incoming": incoming} {
			slices.SortFunc(degrees, func(a, b int) int { return b - a })
			if largest := float64(g.largest()); math.Abs(float64(degrees[0])-largest) > 4*math.Sqrt(largest) {
				t.Errorf("exponent %v, %s: the largest degree is %d, not %v", exponent, name, degrees[0], largest)
			}
			// Of the k largest degrees the least is proportional to k^(-1/(exponent-1)).
			slope := math.Log(float64(degrees[1000])/float64(degrees[20])) / math.Log(1001.0/21)
			if want := -1 / (exponent - 1); math.Abs(slope-want) > 0.1*math.Abs(want) {
				t.Errorf("exponent %v, %s: degrees fall as rank to %.3f, want %.3f", exponent, name, slope, want)
			}
		}
	}
}

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

func TestPermutation(t *testing.T) {
	for _, size := range []uint64{1, 2, 3, 4, 5, 64, 1000, 4097} {
		p := newPermutation(99, size)
		seen := make([]bool, size)
		for i := range size {
			at := p.of(i)
			if at >= size || seen[at] {
				t.Fatalf("size %d: %d comes to %d, again or outside", size, i, at)
			}
			seen[at] = true
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
	if files, err := generate(t, "--facts", "1000", "--entities", "5", "--relations", "10"); err == nil || !strings.Contains(err.Error(), "hubs share") || len(files) > 0 {
		t.Errorf("too many facts for so few entities: %v", err)
	}
	if files, err := generate(t, "--facts", "20", "--relations", "1000", "--entities", "20"); err == nil || !strings.Contains(err.Error(), "no training fact") || len(files) > 0 {
		t.Errorf("relations that are only queried: %v, %d files", err, len(files))
	}
}

// TestNothingIsReplacedOrLeft checks that existing files stay, and that an interrupted run
// leaves none.
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
	if err := run(t.Context(), []string{"--out", folder, "--facts", "1000"}, &out, &out); err == nil || !strings.Contains(err.Error(), "test.txt already exists") {
		t.Errorf("over a file: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "test.txt")); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestKinds makes graphs of the other kinds: about as many facts as were requested, none twice, and the same bytes again.
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
		if !strings.Contains(rule, "(x, y) if ") || !strings.Contains(rule, ", confidence 0.") && !strings.Contains(rule, ", confidence 1.00") || !strings.Contains(rule, ", y), ") {
			t.Errorf("rule %q", rule)
		}
	}
}

// TestRulesAreLearned divides facts of which one relation's are all held out.
func TestRulesAreLearned(t *testing.T) {
	t.Parallel()
	g := &synthetic.Graph{Relations: 2, Facts: []graph.Fact{{Head: 0, Relation: 0, Tail: 1}}, HeldOut: []graph.Fact{{Head: 1, Relation: 0, Tail: 2}, {Head: 1, Relation: 1, Tail: 2}, {Head: 2, Relation: 0, Tail: 3}, {Head: 0, Relation: 0, Tail: 3}}}
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
