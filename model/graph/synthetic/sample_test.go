package synthetic

import (
	"fmt"
	"slices"
	"testing"

	"tagnet/model/graph/kg"
)

func TestFamiliesHeldOutFactsFollow(t *testing.T) {
	for _, seed := range []int64{0, 1, 2, 1 << 40, -3} {
		splits := families(seed)
		if err := splits.check(familyRules()); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		follows := deduce(familyRules(), splits.Train)
		for _, f := range slices.Concat(splits.Valid, splits.Test, splits.Missing) {
			if !follows[f] {
				t.Errorf("seed %d: %v does not follow by one rule", seed, f)
			}
		}
		facts := len(splits.Train) + len(splits.Valid) + len(splits.Test)
		t.Logf("seed %d: %d training, %d validation, %d test, %d missing facts", seed, len(splits.Train), len(splits.Valid), len(splits.Test),
			len(splits.Missing))
		if facts < 2500 || facts > 6000 || len(splits.Valid) < 100 || len(splits.Test) < 150 || len(splits.Missing) < 150 {
			t.Errorf("seed %d: %d, %d, %d and %d facts: not the size of a sample", seed, len(splits.Train), len(splits.Valid), len(splits.Test),
				len(splits.Missing))
		}
		tested := map[string]int{}
		for _, f := range splits.Test {
			tested[f.Relation]++
		}
		t.Logf("seed %d: %v", seed, tested)
		for _, rule := range familyRules() {
			if rule.conclusion != "located_in" && tested[rule.conclusion] == 0 {
				t.Errorf("seed %d: no test fact of %s", seed, rule.conclusion)
			}
		}
	}
}

// check returns an error unless every held-out fact follows from the training facts, and
// everything that follows is a fact.
func (s Splits) check(rules []namedRule) error {
	facts := map[kg.Triple]bool{}
	for _, list := range [][]kg.Triple{s.Train, s.Valid, s.Test, s.Missing} {
		for _, f := range list {
			if facts[f] {
				return fmt.Errorf("sample: %v stands twice", f)
			}
			facts[f] = true
		}
	}
	closed := closure(rules, s.Train)
	for f := range facts {
		if !closed[f] {
			return fmt.Errorf("sample: %v does not follow from the training facts", f)
		}
	}
	for f := range closed {
		if !facts[f] {
			return fmt.Errorf("sample: %v follows from the training facts, but is neither in a split nor missing", f)
		}
	}
	return nil
}

func TestRuleString(t *testing.T) {
	rule := namedRule{"cousin_of", []step{{"child_of", false}, {"sibling_of", true}, {"parent_of", false}}}
	want := "cousin_of(x, y) if child_of(x, a), sibling_of(b, a), parent_of(b, y)"
	if rule.String() != want {
		t.Errorf("got %s, want %s", rule, want)
	}
}
