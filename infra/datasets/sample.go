package datasets

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sort"

	"tagnet/formats/storage"
)

// The share of the sample's facts that is tried for each held-out split. Those that do not
// follow from the rest stay training facts.
const validShare, testShare = 0.08, 0.16

// Splits are the facts of a dataset, each list in the order of its file.
type Splits struct{ Train, Valid, Test []Fact }

// Sample writes train.txt, valid.txt, test.txt and the rules (rules.txt) of a made-up
// country into folder, a path or a URL. The same seed writes the same bytes.
func Sample(ctx context.Context, folder string, seed int64) error {
	splits, err := Families(seed)
	if err != nil {
		return err
	}
	var rules bytes.Buffer
	for _, rule := range Rules() {
		fmt.Fprintln(&rules, rule)
	}
	for _, file := range []struct {
		name string
		text []byte
	}{
		{"train.txt", lines(splits.Train)},
		{"valid.txt", lines(splits.Valid)},
		{"test.txt", lines(splits.Test)},
		{"rules.txt", rules.Bytes()},
	} {
		if err := storage.WriteFile(ctx, storage.Join(folder, file.name), file.text); err != nil {
			return fmt.Errorf("writing the sample: %w", err)
		}
	}
	return nil
}

// Families makes the sample: all facts that the rules conclude about a made-up country,
// split so that each held-out fact follows from the training facts by one application of
// one rule. The facts are complete (the rules conclude nothing that is in no split), so a
// model that has learned the rules ranks every held-out fact first.
func Families(seed int64) (Splits, error) {
	random := rand.New(rand.NewPCG(uint64(seed), 0x7461676e6574)) // "tagnet"
	rules := Rules()
	facts := ordered(Close(rules, country(random)))
	random.Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })

	// What follows from fewer facts follows from more: facts put back cost no derivation.
	tried := int(float64(len(facts)) * (validShare + testShare))
	held, train := facts[:tried], append([]Fact(nil), facts[tried:]...)
	follows := Derive(rules, train)
	var derivable []Fact
	for _, f := range held {
		if follows[f] {
			derivable = append(derivable, f)
		} else {
			train = append(train, f)
		}
	}
	valid := int(float64(len(derivable)) * validShare / (validShare + testShare))
	splits := Splits{Train: train, Valid: derivable[:valid], Test: derivable[valid:]}
	return splits, splits.check(rules)
}

// check returns an error unless every held-out fact follows from the training facts, and
// everything that follows is a fact.
func (s Splits) check(rules []Rule) error {
	given := map[Fact]bool{}
	for _, list := range [][]Fact{s.Train, s.Valid, s.Test} {
		for _, f := range list {
			if given[f] {
				return fmt.Errorf("sample: %v stands twice", f)
			}
			given[f] = true
		}
	}
	closed := Close(rules, s.Train)
	for f := range given {
		if !closed[f] {
			return fmt.Errorf("sample: %v does not follow from the training facts", f)
		}
	}
	for f := range closed {
		if !given[f] {
			return fmt.Errorf("sample: %v follows from the training facts, but is in no split", f)
		}
	}
	return nil
}

// ordered lists a set of facts by head, relation and tail.
func ordered(set map[Fact]bool) []Fact {
	list := make([]Fact, 0, len(set))
	for f := range set {
		list = append(list, f)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.Head != b.Head {
			return a.Head < b.Head
		}
		if a.Relation != b.Relation {
			return a.Relation < b.Relation
		}
		return a.Tail < b.Tail
	})
	return list
}

// lines is a file of facts: head, relation and tail, separated by tabs.
func lines(facts []Fact) []byte {
	var text bytes.Buffer
	for _, f := range facts {
		fmt.Fprintf(&text, "%s\t%s\t%s\n", f.Head, f.Relation, f.Tail)
	}
	return text.Bytes()
}
