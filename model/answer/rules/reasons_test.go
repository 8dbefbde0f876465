package rules

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

// TestReasonsAreTheRulesThatJoin compares the reasons of all pairs of small graphs with the rules that a naive program
// finds, and checks their paths.
func TestReasonsAreTheRulesThatJoin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		g := random(t, seed, 12, 2, 60+20*int(seed))
		if seed == 0 {
			g = random(t, seed, 20, 1, 200)
		}
		r := mined(t, g, 1)
		found := make([]int, len(r.List))
		for relation := range int32(g.BaseRelations) {
			for head := range int32(g.Entities) {
				for tail := range int32(g.Entities) {
					f := graph.Fact{Head: head, Relation: relation, Tail: tail}
					reasons := r.Reasons(g, f, len(r.List))
					if !slices.IsSortedFunc(reasons, Reason.compare) {
						t.Fatalf("reasons of %v are not in order: %v", f, reasons)
					}
					for _, reason := range reasons {
						i, _ := slices.BinarySearchFunc(r.List, reason.Rule, Rule.compare)
						found[i]++
						check(t, g, f, reason, r.List[i])
					}
				}
			}
		}
		for i, rule := range r.List {
			want := naive(g, rule.Relation, rule.Body).Pairs
			if toAndFro(g, rule.Body) {
				want = 0
			}
			if found[i] != want {
				t.Errorf("seed %d: %v is a reason of %d facts, want %d", seed, rule, found[i], want)
			}
		}
	}
}

// check checks the path of a reason, and what it counts without the fact.
func check(t *testing.T, g *graph.Graph, f graph.Fact, reason Reason, rule Rule) {
	t.Helper()
	n := len(reason.Body)
	simple := slices.Compact(slices.Sorted(slices.Values(reason.Path)))
	if len(reason.Path) != n+1 || len(simple) != n+1 || reason.Path[0] != f.Head || reason.Path[n] != f.Tail {
		t.Fatalf("path of %v is %v", f, reason)
	}
	for i, b := range reason.Body {
		if !g.Has(reason.Path[i], b, reason.Path[i+1]) {
			t.Errorf("%v has an edge that the graph has not", reason)
		}
	}
	stated := 0
	if g.Has(f.Head, f.Relation, f.Tail) {
		stated = 1
	}
	if reason.Support != rule.Support-stated || reason.Cases != rule.Cases-stated || reason.Pairs != rule.Pairs-stated {
		t.Errorf("%v counts %v without %v", rule, reason, f)
	}
}

// The relations of company.
const (
	auditedBy, subsidiaryOf, addressIn, inCountry, incorporatedIn, kind, transactsWith, relationsOfCompany = 0, 1, 2, 3, 4, 5, 6, 7
)

// company returns facts of 300 companies, which are entities 0 on, in a graph of 400, and the bodies of relations that
// follow from others: an auditor is that of the parent company, and a country that of the address, in nine of ten
// companies; of the others they are drawn. Most who transact with one do so in both directions. All are of one kind.
func company(t *testing.T) (g *graph.Graph, derived []graph.Fact, body map[int32][]int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var facts []graph.Fact
	auditor, country := make([]int32, 300), func(city int32) int32 { return 350 + city%10 }
	for city := range int32(40) {
		facts = append(facts, graph.Fact{Head: 310 + city, Relation: inCountry, Tail: country(city)})
	}
	for x := range int32(300) {
		city, parent := rng.Int32N(40), rng.Int32N(max(1, x/2))
		add := func(relation, tail int32) { facts = append(facts, graph.Fact{Head: x, Relation: relation, Tail: tail}) }
		add(kind, 399)
		add(addressIn, 310+city)
		in := country(rng.Int32N(40))
		auditor[x] = 370 + rng.Int32N(9)
		if rng.Float64() < .9 {
			in = country(city)
		}
		add(incorporatedIn, in)
		if x >= 30 {
			add(subsidiaryOf, parent)
			if rng.Float64() < .9 {
				auditor[x] = auditor[parent]
			}
		}
		add(auditedBy, auditor[x])
		for partner := range int32(3) {
			partner = (x + 7*partner + 1) % 300
			add(transactsWith, partner)
			if rng.Float64() < .9 {
				facts = append(facts, graph.Fact{Head: partner, Relation: transactsWith, Tail: x})
			}
		}
		derived = append(derived, graph.Fact{Head: x, Relation: incorporatedIn, Tail: country(city)},
			graph.Fact{Head: x, Relation: auditedBy, Tail: auditor[x]}, graph.Fact{Head: (x + 8) % 300, Relation: transactsWith, Tail: x})
	}
	g, err := graph.New(400, relationsOfCompany, facts)
	if err != nil {
		t.Fatal(err)
	}
	body = map[int32][]int32{
		incorporatedIn: {addressIn, inCountry}, auditedBy: {subsidiaryOf, auditedBy}, transactsWith: {g.Inverse(transactsWith)},
	}
	return g, derived, body
}

// TestTheDerivingRuleIsFirst counts the facts whose rule is known that have it as their first reason, and among three.
func TestTheDerivingRuleIsFirst(t *testing.T) {
	t.Parallel()
	g, derived, body := company(t)
	r := mined(t, g, 2)
	facts, first, three := 0, 0, 0
	for _, f := range derived {
		if join(g, f, body[f.Relation]) == nil {
			continue
		}
		facts++
		for i, reason := range r.Reasons(g, f, 3) {
			if slices.Equal(reason.Body, body[f.Relation]) {
				three++
				first += max(0, 1-i)
			}
		}
	}
	if facts < 500 || first < facts*8/10 || three < facts*97/100 {
		t.Errorf("of %d facts %d have the deriving rule first, %d among three", facts, first, three)
	}
}

// TestAgainst asks for what speaks against an auditor other than that of the parent company.
func TestAgainst(t *testing.T) {
	t.Parallel()
	g, _, body := company(t)
	r := mined(t, g, 1)
	for x := range int32(300) {
		parents := g.Answers(x, subsidiaryOf)
		if len(parents) == 0 {
			continue
		}
		right := g.Answers(parents[0], auditedBy)[0]
		for auditor := range int32(9) {
			f := graph.Fact{Head: x, Relation: auditedBy, Tail: 370 + auditor}
			said := slices.IndexFunc(r.Against(g, f), func(reason Reason) bool {
				if reason.Confidence() < sure {
					t.Errorf("%v is not sure", reason)
				}
				return slices.Equal(reason.Body, body[auditedBy])
			})
			if speaks := said >= 0; speaks != (f.Tail != right) {
				t.Fatalf("the parent's auditor speaks against %v: %v", f, speaks)
			}
			if said >= 0 && !slices.Equal(r.Against(g, f)[said].Path, []int32{x, parents[0], right}) {
				t.Errorf("path is %v, want by %d to %d", r.Against(g, f)[said].Path, parents[0], right)
			}
		}
	}
	for _, f := range []graph.Fact{{Head: 5, Relation: transactsWith, Tail: 200}, {Head: 5, Relation: kind, Tail: 399}} {
		if against := r.Against(g, f); len(against) > 0 {
			t.Errorf("against %v speaks %v, though its relation has many tails, or no rule", f, against)
		}
	}
}

// TestAgainstAnotherHead states a relation with one head and one tail, and its mirrors: the mirror of a fact speaks
// against another head of its tail. Tail 107 has a mirror from two heads, of which each may be right.
func TestAgainstAnotherHead(t *testing.T) {
	t.Parallel()
	facts := chain(0, 40)
	for _, f := range facts {
		facts = append(facts, graph.Fact{Head: f.Tail, Relation: 1, Tail: f.Head})
	}
	r := mined(t, made(t, 2, facts), 1)
	g := made(t, 2, append(facts, graph.Fact{Head: 107, Relation: 1, Tail: 8}))
	for f, want := range map[graph.Fact][]int32{
		{Head: 50, Tail: 109}:             {9, 109},
		{Head: 9, Tail: 109}:              nil,
		{Head: 7, Tail: 107}:              nil,
		{Head: 50, Tail: 107}:             {7, 107},
		{Head: 50, Relation: 1, Tail: 51}: nil,
	} {
		var got []int32
		for _, against := range r.Against(g, f) {
			got = append(got, against.Path...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("against %v speaks %v, want %v", f, got, want)
		}
	}
}

// TestReasonsOrder holds that three steps of .99 come after one of .80, and of equals the one of more support first.
func TestReasonsOrder(t *testing.T) {
	t.Parallel()
	of := func(steps, support, cases int) Reason {
		return Reason{Rule: Rule{Body: make([]int32, steps), Support: support, Cases: cases}}
	}
	list := []Reason{of(3, 99, 100), of(1, 80, 100), of(1, 160, 200), of(2, 99, 100)}
	slices.SortFunc(list, Reason.compare)
	if diff := cmp.Diff([]Reason{of(2, 99, 100), of(1, 160, 200), of(1, 80, 100), of(3, 99, 100)}, list); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}
