package learn

import (
	"cmp"
	"fmt"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/optimizer"
	"tagnet/stages/bundle"
)

// Deck is what batches are drawn from: the training facts, and for each of their queries the
// known answers. It holds the bundles that it was made of, and 12 bytes a fact. A Deck serves
// one goroutine.
type Deck struct {
	baseRelations int32
	facts         []graph.Fact
	groups        []bundle.Group
	places        map[[2]int32]place
}

// place is where in groups a question stands.
type place struct{ group, question int32 }

// NewDeck takes the bundles of the training split, over a graph with that many entities and
// base relations. Each fact must be asked in both directions.
func NewDeck(entities, baseRelations int, bundles []*bundle.Bundle) (*Deck, error) {
	d := &Deck{baseRelations: int32(baseRelations), places: map[[2]int32]place{}}
	type numbered struct {
		number int64
		fact   graph.Fact
	}
	var facts []numbered
	for _, b := range bundles {
		if err := b.Check(entities, 2*baseRelations); err != nil {
			return nil, err
		}
		for _, g := range b.Groups {
			for i, q := range g.Questions {
				d.places[[2]int32{g.Source, q.Relation}] = place{int32(len(d.groups)), int32(i)}
				if q.Relation >= d.baseRelations {
					continue
				}
				for j, answer := range q.Answers {
					facts = append(facts, numbered{q.Numbers[j], graph.Fact{Head: g.Source, Relation: q.Relation, Tail: answer}})
				}
			}
			d.groups = append(d.groups, g)
		}
	}
	// The order of the split's table, however it was cut into bundles.
	slices.SortFunc(facts, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	for _, f := range facts {
		if _, ok := d.places[[2]int32{f.fact.Tail, f.fact.Relation + d.baseRelations}]; !ok {
			return nil, fmt.Errorf("query %d has no reciprocal among the bundles: they are not whole", f.number)
		}
		d.facts = append(d.facts, f.fact)
	}
	if len(d.facts) == 0 {
		return nil, fmt.Errorf("the training split has no queries: nothing can be learned")
	}
	return d, nil
}

// Facts are the training facts in the order of the split's table.
func (d *Deck) Facts() []graph.Fact { return d.facts }

// Examples turns a batch's draws into examples. What it returns is good until the next call.
func (d *Deck) Examples(draws []optimizer.Draw, seed uint64, epoch int, into []optimizer.Example) []optimizer.Example {
	into = into[:0]
	for _, draw := range draws {
		e := draw.Example(d.facts, d.baseRelations, seed, epoch)
		p := d.places[[2]int32{e.Source, e.Relation}]
		e.Known = d.groups[p.group].Questions[p.question].Known
		into = append(into, e)
	}
	return into
}
