package datasets

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"tagnet/formats/storage"
)

// The share of the sample's facts that is tried for each held-out split. Those that do not
// follow from the rest stay training facts.
const validShare, testShare = 0.08, 0.16

// sampleStream tells the random numbers of the samples from others of the same seed.
const sampleStream = 0x7461676e6574 // "tagnet"

// Splits are the facts of a dataset, each list in the order of its file. Missing are facts that are true and in no split.
type Splits struct{ Train, Valid, Test, Missing []Fact }

// Write writes train.txt, valid.txt, test.txt, the rules (rules.txt), the true facts that are in no split (MissingFile)
// and, if there are any, the types of entities (TypesFile) into folder, a path or a URL. The same seed writes the same bytes.
func (m Made) Write(ctx context.Context, folder string, seed int64) error {
	splits, rules, types := m.make(seed)
	files := []struct{ name, text string }{
		{"train.txt", lines(splits.Train)}, {"valid.txt", lines(splits.Valid)}, {"test.txt", lines(splits.Test)},
		{MissingFile, lines(splits.Missing)}, {"rules.txt", strings.Join(rules, "\n") + "\n"}, {TypesFile, strings.Join(types, "\n") + "\n"},
	}
	if !m.Typed() {
		files = files[:len(files)-1]
	}
	for _, file := range files {
		if err := storage.WriteFile(ctx, storage.Join(folder, file.name), []byte(file.text)); err != nil {
			return fmt.Errorf("writing the sample: %w", err)
		}
	}
	return nil
}

// make returns the facts, and the lines of the files of rules and types.
func (m Made) make(seed int64) (splits Splits, rules, types []string) {
	if m.draw == nil {
		for _, rule := range Rules() {
			rules = append(rules, rule.String())
		}
		return Families(seed), rules, nil
	}
	d := newDraft(seed, m.draw)
	for _, entity := range d.typed {
		types = append(types, entity[0]+"\t"+entity[1])
	}
	return divide(d.facts, seed), d.describe(), types
}

// Families makes the sample: all facts that the rules conclude about a made-up country,
// split so that each held-out fact follows from the training facts by one application of
// one rule. About half of those for the test are missing instead, by their keys. Nothing else
// follows from the rules.
func Families(seed int64) Splits {
	random := rand.New(rand.NewPCG(uint64(seed), sampleStream))
	rules := Rules()
	facts := ordered(Closure(rules, country(random)))
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

// ordered lists a set of facts by head, relation and tail.
func ordered(set map[Fact]bool) []Fact {
	return slices.SortedFunc(maps.Keys(set), compareFacts)
}

func compareFacts(a, b Fact) int {
	return cmp.Or(cmp.Compare(a.Head, b.Head), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Tail, b.Tail))
}

// lines is a file of facts: head, relation and tail, separated by tabs.
func lines(facts []Fact) string {
	var text strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&text, "%s\t%s\t%s\n", f.Head, f.Relation, f.Tail)
	}
	return text.String()
}
