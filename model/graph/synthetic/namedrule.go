package synthetic

import (
	"maps"
	"slices"
	"strings"

	"tagnet/model/graph/kg"
)

func fact(head, relation, tail string) kg.Triple {
	return kg.Triple{Head: head, Relation: relation, Tail: tail}
}

// step is one edge of a rule's body: along a relation, or against it.
type step struct {
	relation string
	against  bool
}

// namedRule says that whoever is joined to another by path stands in relation conclusion to them.
// A path that leads back to where it began concludes nothing.
type namedRule struct {
	conclusion string
	path       []step
}

// String is the rule as a person writes it: "cousin_of(x, y) if child_of(x, a), ...".
func (r namedRule) String() string {
	variables := []string{"x"}
	for i := range len(r.path) - 1 {
		variables = append(variables, string(rune('a'+i)))
	}
	variables = append(variables, "y")
	body := make([]string, len(r.path))
	for i, step := range r.path {
		from, to := variables[i], variables[i+1]
		if step.against {
			from, to = to, from
		}
		body[i] = step.relation + "(" + from + ", " + to + ")"
	}
	return r.conclusion + "(x, y) if " + strings.Join(body, ", ")
}

// familyRules returns the rules of the family: what they conclude is true, and every fact of the sample
// that is held out follows from the training facts by one of them.
func familyRules() []namedRule {
	along := func(relations ...string) []step {
		path := make([]step, len(relations))
		for i, relation := range relations {
			path[i] = step{relation: relation}
		}
		return path
	}
	against := func(relation string) []step { return []step{{relation, true}} }
	return []namedRule{
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

// deduce returns what the rules conclude from the facts in one application, each fact once.
// Facts that were given may be among them.
func deduce(rules []namedRule, facts []kg.Triple) map[kg.Triple]bool {
	type end struct {
		entity string
		step   step
	}
	// The facts are indexed by their ends, in both directions.
	next := map[end][]string{}
	entities := map[string]bool{}
	for _, f := range facts {
		from, to := end{f.Head, step{f.Relation, false}}, end{f.Tail, step{f.Relation, true}}
		next[from], next[to] = append(next[from], f.Tail), append(next[to], f.Head)
		entities[f.Head], entities[f.Tail] = true, true
	}
	// Each rule's path is followed from each entity.
	concluded := map[kg.Triple]bool{}
	for x := range entities {
		for _, rule := range rules {
			reached := []string{x}
			for _, step := range rule.path {
				var further []string
				for _, at := range reached {
					further = append(further, next[end{at, step}]...)
				}
				reached = further
			}
			for _, y := range reached {
				if y != x {
					concluded[fact(x, rule.conclusion, y)] = true
				}
			}
		}
	}
	return concluded
}

// closure applies the rules until they conclude nothing new, and returns the facts with all
// that follows from them.
func closure(rules []namedRule, facts []kg.Triple) map[kg.Triple]bool {
	closed := map[kg.Triple]bool{}
	for _, f := range facts {
		closed[f] = true
	}
	for before := 0; before < len(closed); {
		before = len(closed)
		maps.Copy(closed, deduce(rules, slices.Collect(maps.Keys(closed))))
	}
	return closed
}
