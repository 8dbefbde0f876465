package synthetic

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tagnet/model/graph/kg"
)

// sampleStream tells the random numbers of the samples from others of the same seed.
const sampleStream = 0x7461676e6574 // "tagnet"

// planted is a rule that was made to hold for a share of what it concludes.
type planted struct {
	namedRule
	holds float64
}

// draft is a made-up graph while it is drawn: base facts, what rules conclude of them, and noise.
type draft struct {
	random *rand.Rand
	facts  []kg.Triple
	known  map[kg.Triple]bool
	// refused has the false facts that rules conclude.
	refused map[kg.Triple]bool
	// symmetric are the relations whose facts hold in both directions.
	symmetric map[string]bool
	rules     []planted
	// noise is the share of the facts of a relation that were added at random.
	noise map[string]float64
	// typed are the entities, each with its type; people are names that somebody has.
	typed  [][2]string
	people map[string]bool
}

// emptyDraft returns a draft without facts.
func emptyDraft(random *rand.Rand) *draft {
	return &draft{
		random: random, known: map[kg.Triple]bool{}, refused: map[kg.Triple]bool{}, symmetric: map[string]bool{}, noise: map[string]float64{},
		people: map[string]bool{},
	}
}

// newDraft draws the facts of a seed.
func newDraft(seed int64, draw func(*draft)) *draft {
	d := emptyDraft(rand.New(rand.NewPCG(uint64(seed), sampleStream)))
	draw(d)
	named := namesIn(d.facts)
	d.typed = slices.DeleteFunc(d.typed, func(entity [2]string) bool { return !named[entity[0]] })
	return d
}

// add adds a fact, of a symmetric relation its mirror too, unless it is known.
func (d *draft) add(head, relation, tail string) {
	for _, f := range d.both(fact(head, relation, tail)) {
		if !d.known[f] && head != tail {
			d.known[f] = true
			d.facts = append(d.facts, f)
		}
	}
}

// both returns a fact and, of a symmetric relation, its mirror.
func (d *draft) both(f kg.Triple) []kg.Triple {
	if d.symmetric[f.Relation] {
		return []kg.Triple{f, fact(f.Tail, f.Relation, f.Head)}
	}
	return []kg.Triple{f}
}

// mirror makes a relation symmetric. Its facts come later.
func (d *draft) mirror(relation string) {
	d.symmetric[relation] = true
	d.rules = append(d.rules, planted{namedRule{relation, []step{{relation, true}}}, 1})
}

// plant adds a rule: each of its conclusions with probability holds, until nothing new follows, and a share
// noise of random facts.
func (d *draft) plant(holds, noise float64, conclusion string, path ...step) {
	rule := planted{namedRule{conclusion, path}, holds}
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
	recursive := slices.ContainsFunc(rule.path, func(s step) bool { return s.relation == rule.conclusion })
	for before := -1; before < 0 || recursive && before < len(d.facts); {
		before = len(d.facts)
		for _, f := range ordered(deduce([]namedRule{rule.namedRule}, d.facts)) {
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
		f := fact(pick(d.random, heads), relation, pick(d.random, tails))
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
func relationsOf(facts []kg.Triple) []string {
	var list []string
	for _, f := range facts {
		list = append(list, f.Relation)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
