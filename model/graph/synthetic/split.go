package synthetic

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"tagnet/model/graph/kg"
)

// Splits are the facts of a dataset, each list in the order of its file. Missing are facts that are
// true and in no split.
type Splits struct{ Train, Valid, Test, Missing []kg.Triple }

// The share of the sample's facts that is tried for each held-out split. Those that do not
// follow from the rest stay training facts.
const validShare, testShare = 0.08, 0.16

// families makes the sample: all facts that the rules conclude about a made-up country, split so that each held-out
// fact follows from the training facts by one application of one rule. About half of those for the test are missing
// instead, by their keys. Nothing else follows from the rules.
func families(seed int64) Splits {
	d, rules := newDraft(seed, country), familyRules()
	facts := ordered(closure(rules, d.facts))
	shuffle(d.random, facts)

	// What follows from fewer facts follows from more: facts put back cost no derivation.
	tried := int(float64(len(facts)) * (validShare + testShare))
	held, train := facts[:tried], slices.Clone(facts[tried:])
	follows := deduce(rules, train)
	var derivable []kg.Triple
	for _, f := range held {
		if follows[f] {
			derivable = append(derivable, f)
		} else {
			train = append(train, f)
		}
	}
	valid := int(float64(len(derivable)) * validShare / (validShare + testShare))
	s := Splits{Train: train, Valid: derivable[:valid]}
	for _, f := range derivable[valid:] {
		if key(f, seed) < 0.5 {
			s.Missing = append(s.Missing, f)
		} else {
			s.Test = append(s.Test, f)
		}
	}
	return s
}

// The shares of a drawn graph's facts that are missing, and that are validation and test facts.
const missingShare, drawnValidShare, drawnTestShare = 0.10, 0.05, 0.10

// divide takes facts out of a graph, each by its key, so that neither their order nor other facts decide. Missing are
// facts of every kind, those that no rule implies too, as in real graphs. A fact stays for training if one of its names
// would be in no other.
func divide(facts []kg.Triple, seed int64) Splits {
	var s Splits
	named := nameSet{}
	train := func(f kg.Triple) {
		s.Train = append(s.Train, f)
		named.add(f)
	}
	list := slices.SortedFunc(slices.Values(facts), compareFacts)
	for _, f := range list {
		if key(f, seed) >= missingShare+drawnValidShare+drawnTestShare {
			train(f)
		}
	}
	for _, f := range list {
		switch share := key(f, seed); {
		case share >= missingShare+drawnValidShare+drawnTestShare:
		case !named.has(f):
			train(f)
		case share < missingShare:
			s.Missing = append(s.Missing, f)
		case share < missingShare+drawnValidShare:
			s.Valid = append(s.Valid, f)
		default:
			s.Test = append(s.Test, f)
		}
	}
	return s
}

// nameSet has the names of facts: of entities, and of relations, whose names no entity has.
type nameSet map[string]bool

func namesIn(facts []kg.Triple) nameSet {
	named := nameSet{}
	for _, f := range facts {
		named.add(f)
	}
	return named
}

func (n nameSet) add(f kg.Triple) { n[f.Head], n[f.Relation], n[f.Tail] = true, true, true }

func (n nameSet) has(f kg.Triple) bool { return n[f.Head] && n[f.Relation] && n[f.Tail] }

// key returns a number from 0 to 1 that follows from a fact and the seed alone.
func key(f kg.Triple, seed int64) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\t%s\t%s\t%s", seed, f.Head, f.Relation, f.Tail))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// ordered lists a set of facts by head, relation and tail.
func ordered(set map[kg.Triple]bool) []kg.Triple {
	return slices.SortedFunc(maps.Keys(set), compareFacts)
}

func compareFacts(a, b kg.Triple) int {
	return cmp.Or(cmp.Compare(a.Head, b.Head), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Tail, b.Tail))
}
