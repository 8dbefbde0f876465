package pattern_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer"
	"tagnet/model/answer/pattern"
	"tagnet/model/answer/probability"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/graph/graphtest"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
)

// matcher returns a matcher with zero over a graph of facts that follows as many entities as there are.
func matcher(t *testing.T, facts []kg.Triple) *pattern.Matcher {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := kg.New(facts, nil, nil)
	fail(err)
	k, err := kernel.Named("")
	fail(err)
	m, err := answer.Open(t.Context(), g, pretrained.Ref{Name: "zero"}, answer.Resources{Kernel: k, Threads: 2})
	fail(err)
	m, err = m.OverAllFacts(t.Context())
	fail(err)
	s, err := m.Sampling(t.Context())
	fail(err)
	fail(m.Fit(t.Context(), s, nil))
	p := &pattern.Matcher{Model: m, Bindings: m.Graph.Entities, Best: m.Graph.Entities}
	p.Known, err = m.View.Answers(t.Context())
	fail(err)
	presumed, err := m.Presume(t.Context(), answer.Missing{Share: .3, Relations: map[string]float64{}})
	fail(err)
	p.Estimator, err = m.Estimator(presumed)
	fail(err)
	return p
}

// brute has every triple of a graph.
type brute struct {
	*pattern.Matcher
	estimates map[graph.Fact]probability.Estimate
}

// truth returns the probability of a fact, and its log odds.
func (b *brute) truth(t *testing.T, f graph.Fact) (p, logOdds float64) {
	g := b.Model.Graph
	switch verdict := b.Model.Judged().Verdict(f); {
	case verdict == verdicts.True || verdict != verdicts.False && g.Has(f.Head, f.Relation, f.Tail):
		return 1, 0
	case verdict == verdicts.False || b.Estimator == nil:
		return 0, 0
	}
	if _, is := b.estimates[f]; !is { // all of its relation
		var facts []graph.Fact
		for head := range int32(g.Entities) {
			for tail := range int32(g.Entities) {
				if !g.Has(head, f.Relation, tail) {
					facts = append(facts, graph.Fact{Head: head, Relation: f.Relation, Tail: tail})
				}
			}
		}
		observed, err := b.Model.Observe(t.Context(), facts, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := b.Model.Estimate(t.Context(), observed, b.Estimator, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			b.estimates[e.Fact] = e.Estimate
		}
	}
	e := b.estimates[f]
	return e.Probability, e.LogOdds
}

// answers returns the probability of each answer by the definition: the best of all bindings of the other variables.
func (b *brute) answers(t *testing.T, atoms []pattern.Atom, of string) map[int32]float64 {
	lookup := b.Model.KG.Lookup(b.Model.View)
	best := map[int32]float64{}
	bound := map[string]int32{}
	var bind func(atom int, p float64)
	bind = func(atom int, p float64) {
		if atom == len(atoms) {
			best[bound[of]] = max(best[bound[of]], p)
			return
		}
		a := atoms[atom]
		for _, term := range []pattern.Term{a.Head, a.Tail} {
			if _, is := bound[term.Name]; term.Variable && !is {
				for entity := range int32(b.Model.Graph.Entities) {
					bound[term.Name] = entity
					bind(atom, p)
				}
				delete(bound, term.Name)
				return
			}
		}
		id := func(term pattern.Term) int32 {
			if term.Variable {
				return bound[term.Name]
			}
			entity, err := lookup.Entity(t.Context(), term.Name)
			if err != nil {
				t.Fatal(err)
			}
			return entity
		}
		name, isInverse := strings.CutPrefix(a.Relation, "~")
		relation, err := lookup.Relation(t.Context(), name, false)
		if err != nil {
			t.Fatal(err)
		}
		fact := graph.Fact{Head: id(a.Head), Relation: relation, Tail: id(a.Tail)}
		if isInverse {
			fact.Head, fact.Tail = fact.Tail, fact.Head
		}
		truth, _ := b.truth(t, fact)
		if a.Negated {
			truth = 1 - truth
		}
		if truth > 0 && p*truth > 0 {
			bind(atom+1, p*truth)
		}
	}
	bind(0, 1)
	return best
}

// compare compares the answers of patterns with those of all bindings.
func compare(t *testing.T, m *pattern.Matcher, patterns map[string]string) {
	t.Helper()
	b := &brute{m, map[graph.Fact]probability.Estimate{}}
	for text, of := range patterns {
		p, err := pattern.New(t.Context(), m.Model.KG.Lookup(m.Model.View), text, of)
		if err != nil {
			t.Error(err)
			continue
		}
		matches, cuts, err := m.Match(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want, last := b.answers(t, p.Atoms, of), 1.
		if len(matches) != len(want) || len(want) == 0 || len(cuts) > 0 {
			t.Errorf("%s: %d answers, want %d and more than 0; cut are %v", text, len(matches), len(want), cuts)
		}
		for _, one := range matches {
			if !(math.Abs(one.Probability-want[one.Entity]) <= 1e-9) || one.Probability > last {
				t.Errorf("%s: %s has probability %v after %v, want %v", text, m.Model.View.Entities[one.Entity], one.Probability, last, want[one.Entity])
			}
			last = one.Probability
			// The facts of the best bindings have that probability, and these log odds.
			product, odds := 1., 0.
			for i, f := range one.Facts {
				truth, logOdds := b.truth(t, f.Fact)
				if !(math.Abs(truth-f.Probability) <= 1e-9) || f.Stated && truth < 1 {
					t.Errorf("%s: %v has probability %v, want %v", text, f, f.Probability, truth)
				}
				if p.Atoms[i].Negated {
					truth, logOdds = 1-truth, -logOdds
				}
				product, odds = product*truth, odds+logOdds
			}
			if !(math.Abs(product-one.Probability) <= 1e-9) || !(math.Abs(odds-one.LogOdds) <= 1e-9) {
				t.Errorf("%s: facts %v have probability %v and log odds %v, want %v and %v", text, one.Facts, product, odds, one.Probability, one.LogOdds)
			}
		}
	}
}

// ofTraits are patterns of graphtest.Traits.
var ofTraits = map[string]string{
	`lives_in(?p, "city 01")`:                                                                              "p",
	`knows(?p, ?q), lives_in(?q, "city 01")`:                                                               "p",
	`knows("person 03", ?q), knows(?q, ?p)`:                                                                "p",
	`~has(?h, "city 01"), owns(?p, ?h)`:                                                                    "h",
	`lives_in(?p, "city 02"), knows(?p, "person 07")`:                                                      "p",
	`relative_of(?p, "person 04"), lives_in(?p, ?city)`:                                                    "city",
	`knows(?p, ?q), lives_in(?q, "city 01"), owns(?p, ?h), not lives_in(?p, "city 00")`:                    "p",
	`knows(?p, "person 01"), not lives_in(?p, "city 01"), not knows(?p, ?q), relative_of(?q, "person 09")`: "p",
	`lives_in(?p, "city 00"), owns(?p, ?h), not has("city 00", ?h)`:                                        "h",
}

// TestAllBindings compares with the definition, where as many entities are followed as there are.
func TestAllBindings(t *testing.T) {
	m := matcher(t, graphtest.Traits())
	compare(t, m, ofTraits)
	// Judged facts count as stated, or as false.
	person := func(i int) int32 {
		id, err := m.Model.KG.Lookup(m.Model.View).Entity(t.Context(), fmt.Sprintf("person %02d", i))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	knows, err := m.Model.KG.Lookup(m.Model.View).Relation(t.Context(), "knows", false)
	if err != nil {
		t.Fatal(err)
	}
	stated := int32(0) // who is said to know person 01
	for !m.Model.Graph.Has(stated, knows, person(1)) {
		if stated++; int(stated) == m.Model.Graph.Entities {
			t.Fatal("nobody knows person 01")
		}
	}
	m.Model.Judge(answer.NewJudged([]answer.Said{
		{Fact: graph.Fact{Head: stated, Relation: knows, Tail: person(1)}},
		{Fact: graph.Fact{Head: person(30), Relation: knows, Tail: person(1)}, True: true},
		{Fact: graph.Fact{Head: person(31), Relation: knows, Tail: person(1)}},
	}, m.Model.Graph.BaseRelations))
	const judged = `knows(?p, "person 01"), not lives_in(?p, "city 01")`
	compare(t, m, map[string]string{judged: "p"})
	m.Estimator = nil
	compare(t, m, map[string]string{
		`knows(?p, ?q), lives_in(?q, "city 01")`:                               "p",
		`knows(?p, "person 01"), not lives_in(?p, "city 01")`:                  "p",
		`lives_in(?p, "city 02"), knows(?p, ?x), owns(?x, ?h), beside(?n, ?h)`: "p",
	})
}

// TestFewBindings checks that few are followed, which is told, and find the best answers.
func TestFewBindings(t *testing.T) {
	m := matcher(t, graphtest.Traits())
	const text = `knows(?p, ?q), lives_in(?q, "city 01"), not lives_in(?p, "city 00")`
	p, err := pattern.New(t.Context(), m.Model.KG.Lookup(m.Model.View), text, "p")
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := m.Match(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	m.Bindings, m.Best = 8, 3
	few, cuts, err := m.Match(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(few) != 3 || len(cuts) != 1 || cuts[0].Variable != "p" || cuts[0].Followed != 8 {
		t.Errorf("%d answers, cut are %v; want 3, cut at ?p", len(few), cuts)
	}
	for i, one := range few {
		if one.Probability != all[i].Probability {
			t.Errorf("answer %d has probability %v, want %v", i+1, one.Probability, all[i].Probability)
		}
	}
}

// TestNegatedOfFew follows fewer entities than a person knows: a negated atom holds for one of the others.
func TestNegatedOfFew(t *testing.T) {
	m := matcher(t, graphtest.Traits())
	const text = `lives_in(?p, "city 00"), not knows(?p, ?q), knows(?q, "person 08")`
	p, err := pattern.New(t.Context(), m.Model.KG.Lookup(m.Model.View), text, "p")
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := m.Match(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	m.Bindings = 1
	few, _, err := m.Match(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	likely := func(matches []pattern.Match) (n int) {
		for _, one := range matches {
			if probability.Likely(one.Probability) {
				n++
			}
		}
		return n
	}
	if likely(all) < 2 || likely(few) != likely(all) {
		t.Errorf("%d likely answers of one followed, want %d", likely(few), likely(all))
	}
}

// TestManyStated answers from stated facts of many entities, whose pairs would take minutes. A canceled search ends.
func TestManyStated(t *testing.T) {
	const n = 50000
	var facts []kg.Triple
	for i := range n {
		name := func(kind string, i int) string { return fmt.Sprintf("%s %06d", kind, i%n) }
		facts = append(facts, kg.Triple{Head: name("p", i), Relation: "works_at", Tail: name("q", i)},
			kg.Triple{Head: name("q", i), Relation: "in", Tail: "all"})
	}
	g, err := kg.New(facts, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	m, err := answer.Open(t.Context(), g, pretrained.Ref{Name: "zero"}, answer.Resources{Kernel: k, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	matcher := &pattern.Matcher{Model: m, Bindings: 64, Best: 10}
	if matcher.Known, err = m.View.Answers(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`works_at(?p, ?q), in(?q, all)`, `in(?p, all), in(?q, all), not works_at(?p, ?q)`} {
		p, err := pattern.New(t.Context(), m.KG.Lookup(m.View), text, "")
		if err != nil {
			t.Fatal(err)
		}
		matches, _, err := matcher.Match(t.Context(), p)
		if err != nil || len(matches) != 10 {
			t.Errorf("%s: %d answers, %v", text, len(matches), err)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := matcher.Match(canceled, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a canceled search ends with %v", text, err)
		}
	}
}

// TestPublicGraphs compares on two public graphs.
func TestPublicGraphs(t *testing.T) {
	data := os.Getenv("TAGNET_DATA")
	if data == "" {
		data = filepath.FromSlash("../../../../shared/data")
	}
	for name, patterns := range map[string]map[string]string{
		"umls": {
			`treats(?drug, ?disease), affects(?disease, cell_function)`:              "drug",
			`causes(?x, neoplastic_process), not treats(?x, neoplastic_process)`:     "x",
			`location_of(?part, ?process), result_of(?process, injury_or_poisoning)`: "part",
		},
		"kinship": {`term4(?x, ?y), term7(?y, person12)`: "x", `term4(?x, person3), not term7(?x, person12)`: "x"},
	} {
		var facts []kg.Triple
		for _, file := range []string{"train.txt", "valid.txt", "test.txt"} {
			text, err := os.ReadFile(filepath.Join(data, name, file))
			if err != nil {
				t.Skipf("without the graph %s: %v", name, err)
			}
			for line := range strings.Lines(string(text)) {
				f := strings.Split(strings.TrimSpace(line), "\t")
				facts = append(facts, kg.Triple{Head: f[0], Relation: f[1], Tail: f[2]})
			}
		}
		compare(t, matcher(t, facts), patterns)
	}
}
