package answer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tagnet/model/answer/rules"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/graph/synthetic"
)

// couples returns a graph of couples, one of which has its fact in one direction only.
func couples(t *testing.T, n int32) *graph.Graph {
	t.Helper()
	var facts []graph.Fact
	for i := range n {
		facts = append(facts, graph.Fact{Head: 2 * i, Tail: 2*i + 1})
		if i > 0 {
			facts = append(facts, graph.Fact{Head: 2*i + 1, Tail: 2 * i})
		}
	}
	g, err := graph.New(int(2*n), 1, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestRulesAreKept checks that the file of a graph's rules has the same bytes for any threads, that it is read, and
// made again where it is damaged, of another graph or of another version.
func TestRulesAreKept(t *testing.T) {
	t.Parallel()
	g, root := couples(t, 12), t.TempDir()
	file := filepath.Join(root, ProbabilitiesFolder, RulesFile(g))
	if RulesFile(couples(t, 13)) == RulesFile(g) {
		t.Fatal("two graphs have one file")
	}
	mined := 0
	find := func(threads int) {
		r, url, unwritten, err := Rules(t.Context(), g, threads, func(done, _ int) { mined += done }, root)
		if err != nil || unwritten != nil || url != file || len(r.List) == 0 || r.Checksum == "" {
			t.Fatalf("%v in %s, %v, %v, want rules in %s", r, url, unwritten, err, file)
		}
	}
	find(1)
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mined = 0
	if find(1); mined > 0 {
		t.Error("what is kept is made again")
	}
	version := slices.Replace(slices.Clone(want), len(`{"format_version":`), len(`{"format_version":1`), '9')
	forged, err := (&rules.Rules{
		FormatVersion: rules.FormatVersion, Graph: RulesFile(g), Relations: g.BaseRelations + 1, Functional: []int32{}, List: []rules.Rule{},
	}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"damaged": string(want[:len(want)/2]), "of another version": string(version), "of more relations": string(forged), "": "",
	} {
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		find(3)
		if got, err := os.ReadFile(file); err != nil || !slices.Equal(got, want) {
			t.Errorf("a file that is %s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestRulesElsewhere checks that rules are kept below another root where the first cannot be written, and
// nowhere without any.
func TestRulesElsewhere(t *testing.T) {
	t.Parallel()
	g, full, another := couples(t, 12), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, ProbabilitiesFolder), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for want, roots := range map[string][]string{
		filepath.Join(another, ProbabilitiesFolder, RulesFile(g)): {full, another}, "": {full},
	} {
		r, url, unwritten, err := Rules(t.Context(), g, 1, nil, roots...)
		if err != nil || unwritten == nil || url != want || len(r.List) == 0 {
			t.Errorf("%s, %v, %v, want %s and why the first cannot be written", url, unwritten, err, want)
		}
	}
	if _, url, unwritten, err := Rules(t.Context(), g, 1, nil); url != "" || unwritten != nil || err != nil {
		t.Errorf("%s, %v, %v, want no file", url, unwritten, err)
	}
}

// TestGraphWithoutRules keeps that a graph has no rules.
func TestGraphWithoutRules(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for range 2 {
		r, url, unwritten, err := Rules(t.Context(), couples(t, 1), 1, nil, root)
		if err != nil || unwritten != nil || url == "" || len(r.List) > 0 {
			t.Fatalf("%v in %s, %v, %v, want none in a file", r, url, unwritten, err)
		}
	}
}

// TestDerivingRuleIsTheFirstReason takes the missing facts of holdings to which a rule leads in the graph: the rule is
// the first reason of nearly all, and among the first three of all but a few.
func TestDerivingRuleIsTheFirstReason(t *testing.T) {
	t.Parallel()
	for seed := range int64(3) {
		s, derived := synthetic.Holdings(seed + 1)
		k, err := kg.New(s.Train, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		lookup, g := k.Lookup(k.Inference), k.Inference.Graph
		r, _, _, err := Rules(t.Context(), g, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		facts, first, three := 0, 0, 0
		for _, f := range s.Missing {
			q, err := lookup.Query(t.Context(), f.Head, f.Relation, false)
			if err != nil {
				t.Fatal(err)
			}
			if q.Answer, err = lookup.Entity(t.Context(), f.Tail); err != nil {
				t.Fatal(err)
			}
			isDeriving := func(r rules.Reason) bool { return slices.Contains(derived[f], rules.Text(k.Relations, r.Body)) }
			at := slices.IndexFunc(r.Reasons(g, q.Fact(q.Answer, int32(g.BaseRelations)), 1000), isDeriving)
			if at < 0 { // no rule made it, or a fact that it needs is missing
				continue
			}
			if facts++; at < 3 {
				three++
			}
			if at == 0 {
				first++
			}
		}
		t.Logf("of %d facts the deriving rule is the first reason of %d, among three of %d", facts, first, three)
		if facts < 2000 || float64(first) < .9*float64(facts) || float64(three) < .99*float64(facts) {
			t.Errorf("seed %d: of %d facts the deriving rule is the first reason of %d, among three of %d", seed+1, facts, first, three)
		}
	}
}
