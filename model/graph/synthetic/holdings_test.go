package synthetic

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tagnet/model/graph/kg"
)

// TestHoldingsLackTheirShares checks that what is missing is true and not stated, that relations lack their shares,
// that what lacks its mirror has it stated, and that names stay.
func TestHoldingsLackTheirShares(t *testing.T) {
	t.Parallel()
	for seed := range int64(3) {
		s, derived := Holdings(seed)
		stated, count, missing := map[kg.Triple]bool{}, map[string]int{}, map[string]int{}
		for _, f := range s.Train {
			stated[f] = true
			count[f.Relation]++
		}
		named := namesIn(s.Train)
		for _, f := range s.Missing {
			count[f.Relation]++
			missing[f.Relation]++
			if mirror := traitMirrors[f.Relation]; stated[f] || !named.has(f) || mirror != "" && !stated[fact(f.Tail, mirror, f.Head)] {
				t.Errorf("seed %d: %v is stated, its mirror is not, or a name of it is in no other fact", seed, f)
			}
		}
		for _, trait := range traits {
			relation := strings.TrimPrefix(trait.relation, "~")
			if want := math.Round(trait.missing * float64(count[relation])); float64(missing[relation]) != want {
				t.Errorf("seed %d: %d of %d facts of %s are missing, want %g", seed, missing[relation], count[relation], relation, want)
			}
		}
		all := slices.Concat(s.Train, s.Missing)
		if want := closure([]namedRule{{"controlled_by", []step{{"subsidiary_of", false}, {"controlled_by", false}}}}, all); len(want) != len(all) {
			t.Errorf("seed %d: controlled_by lacks %d facts of its closure", seed, len(want)-len(all))
		}
		t.Logf("seed %d: %d facts, %d missing, %d derived: %v", seed, len(s.Train), len(s.Missing), len(derived), missing)
	}
}

// TestHoldingsFollow checks that the bodies of rules lead to what is derived from them, in the shares of their
// relations, and that relations have one tail, one head, or both.
func TestHoldingsFollow(t *testing.T) {
	t.Parallel()
	s, derived := Holdings(1)
	all := slices.Concat(s.Train, s.Missing)
	follows, by := map[string]map[kg.Triple]bool{}, map[string]int{}
	heads, tails := map[[2]string]int{}, map[[2]string]int{}
	for _, f := range all {
		heads[[2]string{f.Relation, f.Tail}]++
		tails[[2]string{f.Relation, f.Head}]++
		for _, body := range derived[f] {
			by[f.Relation+": "+body]++
		}
	}
	for f, bodies := range derived {
		holds := true
		for _, body := range bodies {
			rule := namedRule{conclusion: f.Relation}
			for relation := range strings.SplitSeq(body, ", ") {
				rule.path = append(rule.path, step{strings.TrimPrefix(relation, "~"), relation[0] == '~'})
			}
			if follows[rule.String()] == nil {
				follows[rule.String()] = deduce([]namedRule{rule}, all)
			}
			holds = holds && follows[rule.String()][f]
		}
		if !holds || tails[[2]string{f.Relation, f.Head}] == 0 {
			t.Errorf("%v is not true, or does not follow from %q", f, bodies)
		}
	}
	for body, least := range map[string]int{
		"audited_by: subsidiary_of, audited_by": 500, "incorporated_in: has_address, located_in": 550, "operates: leases, ~in_building": 500,
		"founded_by: chaired_by": 520, "transacts_with: ~transacts_with": 1400, "supplies: ~supplied_by": 700,
	} {
		if by[body] < least {
			t.Errorf("%d facts follow by %s, want %d and more", by[body], body, least)
		}
	}
	for key, count := range tails {
		if count > 1 && slices.Contains([]string{"audited_by", "incorporated_in", "chaired_by", "rated"}, key[0]) {
			t.Errorf("%s has %d tails of %s, want 1", key[1], count, key[0])
		}
	}
	for key, count := range heads {
		if count > 1 && slices.Contains([]string{"operates", "chaired_by"}, key[0]) {
			t.Errorf("%s has %d heads of %s, want 1", key[1], count, key[0])
		}
	}
}

func TestHoldingsAreTheSameForASeed(t *testing.T) {
	t.Parallel()
	first, _ := Holdings(1)
	again, _ := Holdings(1)
	if other, _ := Holdings(2); !slices.Equal(first.Train, again.Train) || !slices.Equal(first.Missing, again.Missing) ||
		slices.Equal(first.Missing, other.Missing) {
		t.Error("the same seed drew other facts, or another seed the same")
	}
}
