package datasets

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

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
	splits := Families(seed)
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
func Families(seed int64) Splits {
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
	return Splits{Train: train, Valid: derivable[:valid], Test: derivable[valid:]}
}

// ordered lists a set of facts by head, relation and tail.
func ordered(set map[Fact]bool) []Fact {
	return slices.SortedFunc(maps.Keys(set), func(a, b Fact) int {
		return cmp.Or(cmp.Compare(a.Head, b.Head), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Tail, b.Tail))
	})
}

// lines is a file of facts: head, relation and tail, separated by tabs.
func lines(facts []Fact) []byte {
	var text bytes.Buffer
	for _, f := range facts {
		fmt.Fprintf(&text, "%s\t%s\t%s\n", f.Head, f.Relation, f.Tail)
	}
	return text.Bytes()
}
