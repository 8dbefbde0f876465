package rules

import (
	"cmp"
	"encoding/binary"
	"slices"

	"tagnet/model/graph"
)

// Kind is a kind of findings.
type Kind int

const (
	// MissingMirror: facts of the relation of Body have no mirror (see Mirror).
	MissingMirror Kind = iota
	// MissingAnswer: entities have no answer of a nearly functional relation, and Body gives them one. At least as many
	// have an answer, and Body gives one.
	MissingAnswer
	// Expected: entities are no heads of a relation, though at least 80% of those that are heads of the same other
	// relations are. Counted are the sets of other relations that at least 20 entities have.
	Expected
)

// leastAlike is the least number of entities with the same other relations.
const leastAlike = 20

// Finding is something that holds nearly always in a graph, and where it does not.
type Finding struct {
	Kind Kind
	// Relation, which may be an inverse one, is missing in Missing facts or entities.
	Relation int32
	Body     []int32
	// It holds in Support of Cases. Of a missing answer, these are the pairs whose head has one.
	Support, Cases int
	Missing        int
}

// Findings returns what a graph of the rules most probably lacks: by kind, most first.
func (r *Rules) Findings(g *graph.Graph) (found []Finding) {
	for _, m := range Mirrors(g) {
		if m.Missing() > 0 {
			found = append(found, Finding{MissingMirror, m.Relation, []int32{g.Inverse(m.Other)}, m.Support, m.OtherFacts, m.Missing()})
		}
	}
	mirrors := len(found)
	x := newIndex(g)
	for _, q := range r.Functional {
		best := Finding{}
		for _, rule := range r.Of(q % int32(r.Relations)) {
			body := rule.Body
			if slices.ContainsFunc(found[:mirrors], func(f Finding) bool { return f.Relation == rule.Relation && slices.Equal(f.Body, body) }) {
				continue
			}
			if int(q) >= r.Relations {
				body = backward(g, body)
			}
			t := x.count(x.heads[body[0]], q, body, sure)
			f := Finding{MissingAnswer, q, body, t.support, t.cases, t.without}
			if f.better(best) && t.without <= t.with && t.support >= leastSupport(x.facts[q]) && float64(t.support) >= sure*float64(t.cases) {
				best = f
			}
		}
		if best.Missing > 0 {
			found = append(found, best)
		}
	}
	found = append(found, x.expected()...)
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Missing, a.Missing))
	})
	return found
}

// better reports whether a missing answer is given for more entities, or for as many by a rule that holds more often.
func (f Finding) better(o Finding) bool {
	return f.Missing > o.Missing || f.Missing == o.Missing && f.Missing > 0 && f.Support*o.Cases > o.Support*f.Cases
}

// expected returns the findings of that kind.
func (x *index) expected() (found []Finding) {
	alike := map[string]int{}
	for v := range int32(x.Entities) {
		relations, _ := x.leaving(v, 0, int32(x.BaseRelations))
		var set []byte
		for i, r := range relations {
			if i == 0 || relations[i-1] != r {
				set = binary.BigEndian.AppendUint32(set, uint32(r))
			}
		}
		alike[string(set)]++
	}
	all := make([]Finding, x.BaseRelations)
	for set, with := range alike {
		for i := 0; i < len(set) && len(set) > 4; i += 4 {
			without := alike[set[:i]+set[i+4:]]
			if total := with + without; total >= leastAlike && float64(with) >= sure*float64(total) {
				r := binary.BigEndian.Uint32([]byte(set[i:]))
				f := &all[r]
				*f = Finding{Expected, int32(r), nil, f.Support + with, f.Cases + total, f.Missing + without}
			}
		}
	}
	return slices.DeleteFunc(all, func(f Finding) bool { return f.Missing == 0 })
}
