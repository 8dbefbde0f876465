package datasets

import "strings"

// Fact is a triple by name.
type Fact struct{ Head, Relation, Tail string }

// Step is one edge of a rule's body: along a relation, or against it.
type Step struct {
	Relation string
	Against  bool
}

// Rule says that whoever is joined to another by Path stands in relation Conclusion to them.
// A path that leads back to where it began concludes nothing.
type Rule struct {
	Conclusion string
	Path       []Step
}

// String is the rule as a person writes it: "cousin_of(x, y) if child_of(x, a), ...".
func (r Rule) String() string {
	variables := []string{"x"}
	for i := range len(r.Path) - 1 {
		variables = append(variables, string(rune('a'+i)))
	}
	variables = append(variables, "y")
	body := make([]string, len(r.Path))
	for i, step := range r.Path {
		from, to := variables[i], variables[i+1]
		if step.Against {
			from, to = to, from
		}
		body[i] = step.Relation + "(" + from + ", " + to + ")"
	}
	return r.Conclusion + "(x, y) if " + strings.Join(body, ", ")
}

// Rules returns the rules of the sample: what they conclude is true, and every fact of the sample
// that is held out follows from the training facts by one of them.
func Rules() []Rule {
	along := func(relations ...string) []Step {
		path := make([]Step, len(relations))
		for i, relation := range relations {
			path[i] = Step{Relation: relation}
		}
		return path
	}
	against := func(relation string) []Step { return []Step{{Relation: relation, Against: true}} }
	return []Rule{
		{"child_of", against("parent_of")},
		{"parent_of", against("child_of")},
		{"parent_of", along("spouse_of", "parent_of")},
		{"spouse_of", against("spouse_of")},
		{"sibling_of", against("sibling_of")},
		{"sibling_of", along("child_of", "parent_of")},
		{"cousin_of", against("cousin_of")},
		{"cousin_of", along("child_of", "sibling_of", "parent_of")},
		{"grandparent_of", along("parent_of", "parent_of")},
		{"aunt_or_uncle_of", along("sibling_of", "parent_of")},
		{"lives_in", along("spouse_of", "lives_in")},
		{"grew_up_in", along("child_of", "lives_in")},
		{"citizen_of", along("lives_in", "located_in", "located_in")},
		{"located_in", along("located_in", "located_in")},
		{"borders", against("borders")},
	}
}

// Derive returns what the rules conclude from the facts in one application, each fact once.
// Facts that were given may be among them.
func Derive(rules []Rule, facts []Fact) map[Fact]bool {
	type end struct {
		entity string
		step   Step
	}
	// The facts are indexed by their ends, in both directions.
	next := map[end][]string{}
	entities := map[string]bool{}
	for _, f := range facts {
		along, against := Step{f.Relation, false}, Step{f.Relation, true}
		next[end{f.Head, along}] = append(next[end{f.Head, along}], f.Tail)
		next[end{f.Tail, against}] = append(next[end{f.Tail, against}], f.Head)
		entities[f.Head], entities[f.Tail] = true, true
	}
	// Each rule's path is followed from each entity.
	concluded := map[Fact]bool{}
	for x := range entities {
		for _, rule := range rules {
			reached := []string{x}
			for _, step := range rule.Path {
				var further []string
				for _, at := range reached {
					further = append(further, next[end{at, step}]...)
				}
				reached = further
			}
			for _, y := range reached {
				if y != x {
					concluded[Fact{x, rule.Conclusion, y}] = true
				}
			}
		}
	}
	return concluded
}

// Closure applies the rules until they conclude nothing new, and returns the facts with all
// that follows from them.
func Closure(rules []Rule, facts []Fact) map[Fact]bool {
	closed := map[Fact]bool{}
	for _, f := range facts {
		closed[f] = true
	}
	for {
		before := len(closed)
		list := make([]Fact, 0, before)
		for f := range closed {
			list = append(list, f)
		}
		for f := range Derive(rules, list) {
			closed[f] = true
		}
		if len(closed) == before {
			return closed
		}
	}
}
