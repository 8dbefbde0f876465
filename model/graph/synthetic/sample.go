package synthetic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage"
	"tagnet/model/graph/kg"
)

// Sample is a graph that is made up, and whose rules are known.
type Sample struct {
	// Name is the value of --dataset and the name of the folder in a workspace.
	Name string
	// Description says what its entities are.
	Description string
	draw        func(d *draft) // nil for the family, which is drawn elsewhere
}

// MissingFile is the file of the facts that a made-up graph lacks, in the folder of its splits.
const MissingFile = "missing.tsv"

// TypesFile is the file of the types of its entities, in the same folder.
const TypesFile = "types.tsv"

// Samples lists the made-up graphs, the default first.
func Samples() []Sample {
	return []Sample{
		{Name: "sample", Description: "people and places of a made-up family"},
		{Name: "sample-drugs", Description: "made-up drugs, proteins, diseases and side effects", draw: drugs},
		{Name: "sample-shop", Description: "customers, items and brands of a made-up shop", draw: shop},
		{Name: "sample-hierarchy", Description: "terms of a made-up hierarchy of machine parts", draw: hierarchy},
	}
}

// SampleNames returns the names of the made-up graphs, the default first.
func SampleNames() []string {
	var names []string
	for _, m := range Samples() {
		names = append(names, m.Name)
	}
	return names
}

// SampleNamed returns the made-up graph of a name, unless a file or a folder with facts has it.
func SampleNamed(name string) (Sample, bool) {
	if info, err := os.Stat(name); err == nil && (!info.IsDir() || datasets.HoldsFacts(name)) {
		return Sample{}, false
	}
	i := slices.IndexFunc(Samples(), func(m Sample) bool { return m.Name == name })
	if i < 0 {
		return Sample{}, false
	}
	return Samples()[i], true
}

// Typed reports whether its entities have types.
func (m Sample) Typed() bool { return m.draw != nil }

// ReadMissing returns the true facts that were left out of a made-up graph, whose splits lie in folder: a new fact is
// right if it is among them.
func ReadMissing(ctx context.Context, folder string) (map[kg.Triple]bool, error) {
	url := storage.Join(folder, MissingFile)
	text, err := storage.ReadFile(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("reading the facts that the sample lacks: %w", err)
	}
	missing := map[kg.Triple]bool{}
	for line := range strings.Lines(string(text)) {
		names := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(names) != 3 {
			return nil, fmt.Errorf("reading %s: %w", url, errors.New("a line is no fact; make the sample again"))
		}
		missing[fact(names[0], names[1], names[2])] = true
	}
	return missing, nil
}

// Write writes train.txt, valid.txt, test.txt, the rules (rules.txt), the true facts that are in no split
// (MissingFile) and, if there are any, the types of entities (TypesFile) into folder, a path or a URL. The same seed
// writes the same bytes.
func (m Sample) Write(ctx context.Context, folder string, seed int64) error {
	splits, rules, types := m.draft(seed)
	files := []struct{ name, text string }{
		{"train.txt", Lines(splits.Train)}, {"valid.txt", Lines(splits.Valid)}, {"test.txt", Lines(splits.Test)},
		{MissingFile, Lines(splits.Missing)}, {"rules.txt", strings.Join(rules, "\n") + "\n"}, {TypesFile, strings.Join(types, "\n") + "\n"},
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

// draft returns the facts, and the lines of the files of rules and types.
func (m Sample) draft(seed int64) (splits Splits, rules, types []string) {
	if m.draw == nil {
		for _, rule := range familyRules() {
			rules = append(rules, rule.String())
		}
		return families(seed), rules, nil
	}
	d := newDraft(seed, m.draw)
	for _, entity := range d.typed {
		types = append(types, entity[0]+"\t"+entity[1])
	}
	return divide(d.facts, seed), d.describe(), types
}

// Lines is a file of facts: head, relation and tail, separated by tabs.
func Lines(facts []kg.Triple) string {
	var text strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&text, "%s\t%s\t%s\n", f.Head, f.Relation, f.Tail)
	}
	return text.String()
}
