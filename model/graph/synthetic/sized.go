package synthetic

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tagnet/model/graph/kg"
)

// Kind is a kind of graphs of any size, of which some relations can be learned.
type Kind struct {
	draw    func(d *draft, facts int)
	learned []string
}

// Kinds are the kinds of graphs of any size, by name.
var Kinds = map[string]Kind{"shop": {purchases, []string{"bought"}}, "hierarchy": {ontology, []string{"kind_of", "found_in"}}}

// Draw draws a graph of about so many facts. A thirtieth of what can be learned is held out, half of it for validation;
// a fact about a name that the graph would not have stays.
func (k Kind) Draw(facts int, random *rand.Rand) (s Splits) {
	d := emptyDraft(random)
	k.draw(d, facts)
	var learned []kg.Triple
	for _, f := range d.facts {
		if slices.Contains(k.learned, f.Relation) {
			learned = append(learned, f)
		} else {
			s.Train = append(s.Train, f)
		}
	}
	shuffle(random, learned)
	held := min(max(2, len(learned)/30), len(learned))
	s.Train = append(s.Train, learned[held:]...)
	named := namesIn(s.Train)
	for i, f := range learned[:held] {
		switch {
		case !named.has(f):
			s.Train = append(s.Train, f)
		case i%2 == 0:
			s.Valid = append(s.Valid, f)
		default:
			s.Test = append(s.Test, f)
		}
	}
	shuffle(random, s.Train)
	return s
}

func shuffle(random *rand.Rand, facts []kg.Triple) {
	random.Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
}

// numbered returns the name of the i-th entity of a type.
func numbered(kind string, i int) string { return fmt.Sprintf("%s-%d", kind, i) }

// purchases draws customers and what they buy: half of what the one or two brands that they like make, a few items of a
// category, and a tenth at random.
func purchases(d *draft, facts int) {
	customers, items, brands, categories := max(2, facts/20), max(4, facts/37), max(2, facts/740), max(2, facts/1500)
	made, shelves := make([][]string, brands), make([][]string, categories)
	for i := range items {
		item, brand, category := numbered("item", i), d.random.IntN(brands), d.random.IntN(categories)
		made[brand], shelves[category] = append(made[brand], item), append(shelves[category], item)
		d.add(item, "made_by", numbered("brand", brand))
		d.add(item, "in_category", numbered("category", category))
	}
	buys := func(customer string, among []string, share float64) {
		for _, item := range among {
			if d.random.Float64() < share {
				d.add(customer, "bought", item)
			}
		}
	}
	for i := range customers {
		customer := numbered("customer", i)
		for range 1 + d.random.IntN(2) {
			brand := d.random.IntN(brands)
			buys(customer, made[brand], .5)
			if d.random.Float64() < .6 {
				d.add(customer, "likes", numbered("brand", brand))
			}
		}
		buys(customer, shelves[d.random.IntN(categories)], .06)
		for range 2 {
			d.add(customer, "bought", numbered("item", d.random.IntN(items)))
		}
	}
}

// ontology draws terms that are each a kind of an earlier one, and part of some. kind_of holds of most ancestors from
// the second to the fourth, and found_in follows from is_a and part_of.
func ontology(d *draft, facts int) {
	terms := max(8, facts/4)
	parents, wholes := make([]int, terms), make([]int, terms)
	for i := 1; i < terms; i++ {
		share, term := d.random.Float64(), numbered("term", i)
		parents[i] = int(share * share * float64(i))
		d.add(term, "is_a", numbered("term", parents[i]))
		if wholes[i] = d.random.IntN(i); d.random.IntN(4) == 0 && wholes[i] != parents[i] {
			d.add(term, "part_of", numbered("term", wholes[i]))
		} else {
			wholes[i] = 0
		}
		if whole := wholes[parents[i]]; whole > 0 && d.random.IntN(10) > 0 {
			d.add(term, "found_in", numbered("term", whole))
		}
		for ancestor, level := parents[parents[i]], 2; ancestor > 0 && level <= 4; ancestor, level = parents[ancestor], level+1 {
			if d.random.IntN(10) > 0 {
				d.add(term, "kind_of", numbered("term", ancestor))
			}
		}
	}
}
