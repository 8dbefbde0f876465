package learn

import (
	"cmp"
	"fmt"
	"slices"

	"tagnet/model/learning"
	"tagnet/model/sampling"
	"tagnet/stages/bundle"
)

// Deck is what batches are drawn from: the training facts, and for each of their queries the
// known answers and the source's distances. It holds the rows as the bundles do, compressed:
//
//	sources x (entities/2, compressed to a few hundred to a few thousand bytes) + questions x 48
//	+ known answers x 4 + facts x 12
//
// bytes. A Deck serves one goroutine.
type Deck struct {
	entities      int
	baseRelations int32
	facts         []Fact
	groups        []bundle.Group
	places        map[[2]int32]place
	reader        *bundle.RowReader

	// rows are the distances of the last batch, by source; free are arrays for the next.
	rows map[int32][]uint8
	free [][]uint8
}

// place is where in groups a question stands.
type place struct{ group, question int32 }

// NewDeck takes the bundles of the training split, over a graph with that many entities and
// base relations. Each fact must be asked in both directions.
func NewDeck(entities, baseRelations int, bundles []*bundle.Bundle) (*Deck, error) {
	reader, err := bundle.NewRowReader(entities)
	if err != nil {
		return nil, err
	}
	d := &Deck{
		entities: entities, baseRelations: int32(baseRelations),
		places: map[[2]int32]place{}, reader: reader, rows: map[int32][]uint8{},
	}
	type numbered struct {
		number int64
		fact   Fact
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
					facts = append(facts, numbered{q.Numbers[j], Fact{g.Source, q.Relation, answer}})
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
func (d *Deck) Facts() []Fact { return d.facts }

// Examples turns a batch's draws into examples. What it returns is good until the next call.
// Queries that share a source share its distances.
func (d *Deck) Examples(draws []Draw, seed uint64, epoch int, into []learning.Example) ([]learning.Example, error) {
	for source, row := range d.rows {
		d.free = append(d.free, row)
		delete(d.rows, source)
	}
	into = into[:0]
	for _, draw := range draws {
		f := d.facts[draw.Fact]
		source, relation, answer, side := f.Head, f.Relation, f.Tail, uint64(0)
		if draw.Reciprocal {
			source, relation, answer, side = f.Tail, f.Relation+d.baseRelations, f.Head, 1
		}
		p := d.places[[2]int32{source, relation}]
		g := &d.groups[p.group]
		distances, err := d.distances(g)
		if err != nil {
			return nil, err
		}
		into = append(into, learning.Example{
			Source: source, Relation: relation, Answer: answer,
			Distances: distances, Known: g.Questions[p.question].Known,
			Key: sampling.Seed(seed, purposeQuery, uint64(epoch), uint64(draw.Fact), side),
		})
	}
	return into, nil
}

func (d *Deck) distances(g *bundle.Group) ([]uint8, error) {
	if row, ok := d.rows[g.Source]; ok {
		return row, nil
	}
	var row []uint8
	if n := len(d.free); n > 0 {
		row, d.free = d.free[n-1], d.free[:n-1]
	} else {
		row = make([]uint8, d.entities)
	}
	if err := d.reader.Read(g.Distances, row); err != nil {
		return nil, fmt.Errorf("distances of source %d: %w", g.Source, err)
	}
	d.rows[g.Source] = row
	return row, nil
}
