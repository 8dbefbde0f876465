package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"tagnet/formats/storage"
)

// Made is a graph that is made up, and whose rules are known.
type Made struct {
	// Name is the value of --dataset and the name of the folder in a workspace.
	Name string
	// About says what its entities are.
	About string
	draw  func(d *draft) // nil for the family, which is drawn elsewhere
}

// MissingFile is the file of the facts that a made-up graph lacks, in the folder of its splits.
const MissingFile = "missing.tsv"

// TypesFile is the file of the types of its entities, in the same folder.
const TypesFile = "types.tsv"

// Samples lists the made-up graphs, the default first.
func Samples() []Made {
	return []Made{
		{Name: "sample", About: "people and places of a made-up family"},
		{Name: "sample-drugs", About: "made-up drugs, proteins, diseases and side effects", draw: drugs},
		{Name: "sample-shop", About: "customers, items and brands of a made-up shop", draw: shop},
		{Name: "sample-hierarchy", About: "terms of a made-up hierarchy of machine parts", draw: hierarchy},
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
func SampleNamed(name string) (Made, bool) {
	if info, err := os.Stat(name); err == nil && (!info.IsDir() || holdsFacts(name)) {
		return Made{}, false
	}
	i := slices.IndexFunc(Samples(), func(m Made) bool { return m.Name == name })
	if i < 0 {
		return Made{}, false
	}
	return Samples()[i], true
}

// Typed reports whether its entities have types.
func (m Made) Typed() bool { return m.draw != nil }

// ReadMissing returns the true facts that were left out of a made-up graph, whose splits lie in folder: a new fact is right if it
// is among them.
func ReadMissing(ctx context.Context, folder string) (map[Fact]bool, error) {
	url := storage.Join(folder, MissingFile)
	text, err := storage.ReadFile(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("reading the facts that the sample lacks: %w", err)
	}
	missing := map[Fact]bool{}
	for line := range strings.Lines(string(text)) {
		names := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(names) != 3 {
			return nil, fmt.Errorf("reading %s: %w", url, errors.New("a line is no fact; make the sample again"))
		}
		missing[Fact{names[0], names[1], names[2]}] = true
	}
	return missing, nil
}

// planted is a rule that was made to hold for a share of what it concludes.
type planted struct {
	Rule
	holds float64
}

// draft is a made-up graph while it is drawn: base facts, what rules conclude of them, and noise.
type draft struct {
	random *rand.Rand
	facts  []Fact
	known  map[Fact]bool
	// refused has the false facts that rules conclude.
	refused map[Fact]bool
	// symmetric are the relations whose facts hold in both directions.
	symmetric map[string]bool
	rules     []planted
	// noise is the share of the facts of a relation that were added at random.
	noise map[string]float64
	// typed are the entities, each with its type.
	typed [][2]string
}

// newDraft draws the facts of a seed.
func newDraft(seed int64, draw func(*draft)) *draft {
	d := &draft{
		random: rand.New(rand.NewPCG(uint64(seed), sampleStream)),
		known:  map[Fact]bool{}, refused: map[Fact]bool{}, symmetric: map[string]bool{}, noise: map[string]float64{},
	}
	draw(d)
	named := map[string]bool{}
	for _, f := range d.facts {
		named[f.Head], named[f.Tail] = true, true
	}
	d.typed = slices.DeleteFunc(d.typed, func(entity [2]string) bool { return !named[entity[0]] })
	return d
}

// add adds a fact, of a symmetric relation its mirror too, unless it is known.
func (d *draft) add(head, relation, tail string) {
	for _, f := range d.both(Fact{head, relation, tail}) {
		if !d.known[f] && head != tail {
			d.known[f] = true
			d.facts = append(d.facts, f)
		}
	}
}

// both returns a fact and, of a symmetric relation, its mirror.
func (d *draft) both(f Fact) []Fact {
	if d.symmetric[f.Relation] {
		return []Fact{f, {f.Tail, f.Relation, f.Head}}
	}
	return []Fact{f}
}

// mirror makes a relation symmetric. Its facts come later.
func (d *draft) mirror(relation string) {
	d.symmetric[relation] = true
	d.rules = append(d.rules, planted{Rule{relation, []Step{{relation, true}}}, 1})
}

// plant adds a rule: each of its conclusions with probability holds, until nothing new follows, and a share noise of random facts.
func (d *draft) plant(holds, noise float64, conclusion string, path ...Step) {
	rule := planted{Rule{conclusion, path}, holds}
	d.rules = append(d.rules, rule)
	d.conclude(rule)
	if noise > 0 {
		d.noise[conclusion] = noise
		d.scatter(conclusion, noise)
		d.conclude(rule)
	}
}

// conclude draws once for each conclusion of a rule, of a recursive one for what follows from them too.
func (d *draft) conclude(rule planted) {
	recursive := slices.ContainsFunc(rule.Path, func(s Step) bool { return s.Relation == rule.Conclusion })
	for before := -1; before < 0 || recursive && before < len(d.facts); {
		before = len(d.facts)
		for _, f := range ordered(Derive([]Rule{rule.Rule}, d.facts)) {
			if d.known[f] || d.refused[f] {
				continue
			}
			if d.random.Float64() < rule.holds {
				d.add(f.Head, f.Relation, f.Tail)
				continue
			}
			for _, refused := range d.both(f) {
				d.refused[refused] = true
			}
		}
	}
}

// scatter adds facts of a relation between its heads and its tails at random, until they are a share of its facts.
func (d *draft) scatter(relation string, share float64) {
	var heads, tails []string
	for _, f := range d.facts {
		if f.Relation == relation {
			heads, tails = append(heads, f.Head), append(tails, f.Tail)
		}
	}
	for most := len(d.facts) + int(share/(1-share)*float64(len(heads))); len(d.facts) < most; {
		f := Fact{pick(d.random, heads), relation, pick(d.random, tails)}
		if !d.refused[f] {
			d.add(f.Head, f.Relation, f.Tail)
		}
	}
}

// name adds entities of a type.
func (d *draft) name(kind string, names ...string) []string {
	for _, name := range names {
		d.typed = append(d.typed, [2]string{name, kind})
	}
	return names
}

// pick draws one of a list.
func pick(random *rand.Rand, list []string) string { return list[random.IntN(len(list))] }

// some draws several of a list, each at most once.
func some(random *rand.Rand, list []string, count int) []string {
	var drawn []string
	for _, i := range random.Perm(len(list))[:count] {
		drawn = append(drawn, list[i])
	}
	return drawn
}

// describe returns the rules and the noise, a line each.
func (d *draft) describe() []string {
	var lines []string
	for _, rule := range d.rules {
		line := rule.String()
		if rule.holds < 1 {
			line += fmt.Sprintf(" (%.0f%%)", 100*rule.holds)
		}
		lines = append(lines, line)
	}
	for _, relation := range relationsOf(d.facts) {
		if share := d.noise[relation]; share > 0 {
			lines = append(lines, fmt.Sprintf("%.0f%% of the facts of %s are noise", 100*share, relation))
		}
	}
	return lines
}

// relationsOf returns the relations of facts in their order.
func relationsOf(facts []Fact) []string {
	var list []string
	for _, f := range facts {
		if !slices.Contains(list, f.Relation) {
			list = append(list, f.Relation)
		}
	}
	slices.Sort(list)
	return list
}

// The shares of a drawn graph's facts that are missing, and that are validation and test facts.
const missingShare, drawnValidShare, drawnTestShare = 0.10, 0.05, 0.10

// divide takes facts out of a graph, each by its key, so that neither their order nor other facts decide. Missing are facts of every kind,
// those that no rule implies too, as in real graphs. A fact stays for training if one of its names would be in no other.
func divide(facts []Fact, seed int64) Splits {
	var s Splits
	named := map[string]bool{}
	train := func(f Fact) {
		s.Train = append(s.Train, f)
		named[f.Head], named[f.Relation], named[f.Tail] = true, true, true
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
		case !named[f.Head] || !named[f.Relation] || !named[f.Tail]:
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

// key returns a number from 0 to 1 that follows from a fact and the seed alone.
func key(f Fact, seed int64) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\t%s\t%s\t%s", seed, f.Head, f.Relation, f.Tail))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}
