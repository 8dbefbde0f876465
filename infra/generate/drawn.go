package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// drawing is a graph while it is drawn: the lines of its facts, each once. Those of known stay in the graph, and some of learned are held out.
type drawing struct {
	random         *rand.Rand
	seen           map[string]bool
	known, learned []string
}

// line returns a fact, unless it was drawn before.
func (d *drawing) line(head, relation, tail string) []string {
	fact := head + "\t" + relation + "\t" + tail + "\n"
	if d.seen[fact] {
		return nil
	}
	d.seen[fact] = true
	return []string{fact}
}

func (d *drawing) know(head, relation, tail string) {
	d.known = append(d.known, d.line(head, relation, tail)...)
}
func (d *drawing) learn(head, relation, tail string) {
	d.learned = append(d.learned, d.line(head, relation, tail)...)
}

// name returns the name of the i-th entity of a type.
func name(kind string, i int) string { return fmt.Sprintf("%s-%d", kind, i) }

// writeDrawn draws a graph and writes it. A thirtieth of what can be learned is held out, half of it for validation; a fact about a name that the graph
// would not have stays.
func writeDrawn(ctx context.Context, o options, draw func(*drawing, int), out io.Writer) error {
	d := &drawing{random: rand.New(rand.NewPCG(o.seed, mix(o.seed))), seen: map[string]bool{}}
	draw(d, int(o.facts))
	d.random.Shuffle(len(d.learned), func(i, j int) { d.learned[i], d.learned[j] = d.learned[j], d.learned[i] })
	held := max(2, len(d.learned)/30)
	train := append(d.known, d.learned[min(held, len(d.learned)):]...)
	named := map[string]bool{}
	for _, fact := range train {
		for _, n := range strings.Split(strings.TrimSpace(fact), "\t") {
			named[n] = true
		}
	}
	var splits [2][]string
	for i, fact := range d.learned[:min(held, len(d.learned))] {
		if n := strings.Split(strings.TrimSpace(fact), "\t"); named[n[0]] && named[n[1]] && named[n[2]] {
			splits[i%2] = append(splits[i%2], fact)
		} else {
			train = append(train, fact)
		}
	}
	d.random.Shuffle(len(train), func(i, j int) { train[i], train[j] = train[j], train[i] })
	if len(splits[0])*len(splits[1]) == 0 {
		return o.tooFew()
	}
	if err := writeFiles(ctx, o.out, text("train", strings.Join(train, "")), text("valid", strings.Join(splits[0], "")), text("test", strings.Join(splits[1], ""))); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %s: %d, %d and %d facts\n", o.out, len(train), len(splits[0]), len(splits[1]))
	return nil
}

// shop draws customers and what they buy: half of what the one or two brands that they like make, a few items of a category, and a tenth at random.
// To be learned are purchases.
func shop(d *drawing, facts int) {
	customers, items, brands, categories := max(2, facts/20), max(4, facts/37), max(2, facts/740), max(2, facts/1500)
	makes, shelves := make([][]string, brands), make([][]string, categories)
	for i := range items {
		item, brand, category := name("item", i), d.random.IntN(brands), d.random.IntN(categories)
		makes[brand], shelves[category] = append(makes[brand], item), append(shelves[category], item)
		d.know(item, "made_by", name("brand", brand))
		d.know(item, "in_category", name("category", category))
	}
	buys := func(customer string, among []string, share float64) {
		for _, item := range among {
			if d.random.Float64() < share {
				d.learn(customer, "bought", item)
			}
		}
	}
	for i := range customers {
		customer := name("customer", i)
		for range 1 + d.random.IntN(2) {
			brand := d.random.IntN(brands)
			buys(customer, makes[brand], .5)
			if d.random.Float64() < .6 {
				d.know(customer, "likes", name("brand", brand))
			}
		}
		buys(customer, shelves[d.random.IntN(categories)], .06)
		for range 2 {
			d.learn(customer, "bought", name("item", d.random.IntN(items)))
		}
	}
}

// hierarchy draws terms that are each a kind of an earlier one, and part of some. To be learned are kind_of, which holds of most ancestors from the
// second to the fourth, and found_in, which follows from is_a and part_of.
func hierarchy(d *drawing, facts int) {
	terms := max(8, facts/4)
	parents, wholes := make([]int, terms), make([]int, terms)
	for i := 1; i < terms; i++ {
		share := d.random.Float64()
		parents[i] = int(share * share * float64(i))
		d.know(name("term", i), "is_a", name("term", parents[i]))
		if wholes[i] = d.random.IntN(i); d.random.IntN(4) == 0 && wholes[i] != parents[i] {
			d.know(name("term", i), "part_of", name("term", wholes[i]))
		} else {
			wholes[i] = 0
		}
		if whole := wholes[parents[i]]; whole > 0 && d.random.IntN(10) > 0 {
			d.learn(name("term", i), "found_in", name("term", whole))
		}
		for ancestor, level := parents[parents[i]], 2; ancestor > 0 && level <= 4; ancestor, level = parents[ancestor], level+1 {
			if d.random.IntN(10) > 0 {
				d.learn(name("term", i), "kind_of", name("term", ancestor))
			}
		}
	}
}
