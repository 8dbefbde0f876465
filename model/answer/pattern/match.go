package pattern

import (
	"cmp"
	"context"
	"slices"

	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// Matcher finds the answers of patterns.
type Matcher struct {
	// Model is over the graph of all facts, and Known has them.
	Model *answer.Model
	Known tables.Answers
	// Estimator gives the probabilities of facts that are not stated; nil takes stated facts alone.
	Estimator *probability.Estimator
	// Bindings is the number of best entities of a variable from which facts that are not stated are followed. Stated
	// ones are followed from all.
	Bindings int
	// Best is the number of best answers, of those by stated facts alone, whose probability is 1, and of others.
	Best int
	// Done, which may be nil, counts as in answer.Model.Observe.
	Done func(queries int)
}

// DefaultBindings is the number of entities of a variable that are followed, where nobody says how many.
const DefaultBindings = 64

// Match is an answer with the best entities for the other variables.
type Match struct {
	Entity int32
	// Probability is the product of the probabilities of Facts, of the negations of those whose atom is negated.
	// LogOdds tell answers of equal probability apart: the sum of the log odds of facts that are not stated, less for
	// negations.
	Probability, LogOdds float64
	Facts                []Fact // by atom
}

// Fact is the fact of an atom.
type Fact struct {
	graph.Fact
	// Stated is set if the graph, another split of it, or a verdict has the fact. Otherwise Probability is that of the
	// fact, 0 where none is known.
	Stated      bool
	Probability float64
}

// Cut says that a variable has more entities that are likely to follow by stated facts than were followed.
type Cut struct {
	Variable string `json:"variable"`
	Of       int    `json:"of"`
	Followed int    `json:"followed"`
}

// value is how good an entity is for a variable, with all that is beyond it in the tree.
type value struct {
	p, logOdds float64
	ends       []end // by branch
}

// end is the best other end of a branch: the number of an entity of found.
type end struct {
	number int
	fact   Fact
}

// found are entities for a variable, ascending, or a name's entity.
type found struct {
	entities []int32
	followed []bool // by entity: its facts that are not stated count, too
	values   []value
	beyond   []*found // by branch
}

// search is the search for the answers of a pattern.
type search struct {
	*Matcher
	*Pattern
	cuts []Cut
}

// Match returns the best answers of a pattern, the best first; those of equal probability and log odds are in the order
// of their ids. cuts are the variables with more entities than Bindings.
func (m *Matcher) Match(ctx context.Context, p *Pattern) (matches []Match, cuts []Cut, err error) {
	s := &search{Matcher: m, Pattern: p}
	answers, err := s.solve(ctx, p.root, nil)
	if err != nil {
		return nil, nil, err
	}
	listed := map[bool]int{} // by whether the probability is 1
	for _, i := range answers.best() {
		v := answers.values[i]
		if listed[v.p == 1]++; listed[v.p == 1] > m.Best {
			continue
		}
		one := Match{Entity: answers.entities[i], Probability: v.p, LogOdds: v.logOdds, Facts: make([]Fact, len(p.Atoms))}
		answers.facts(p.root, i, one.Facts)
		matches = append(matches, one)
	}
	return matches, s.cuts, nil
}

// best returns the numbers of the entities, the best first.
func (f *found) best() []int {
	order := parallel.Indices[int](len(f.entities))
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := f.values[i], f.values[j]
		return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(b.logOdds, a.logOdds))
	})
	return order
}

// facts sets the facts, by atom, of an entity of a variable and of what is beyond it.
func (f *found) facts(v *variable, number int, facts []Fact) {
	for i, b := range v.branches {
		e := f.values[number].ends[i]
		facts[b.atom] = e.fact
		if b.variable != nil {
			f.beyond[i].facts(b.variable, e.number, facts)
		}
	}
}

// solve returns the entities for a variable. above has candidates where nothing below binds it.
func (s *search) solve(ctx context.Context, v *variable, above guesses) (_ *found, err error) {
	f := &found{beyond: make([]*found, len(v.branches))}
	for i, b := range v.branches {
		switch {
		case b.variable == nil:
			f.beyond[i] = &found{entities: []int32{b.entity}, values: []value{{p: 1}}}
		case b.variable.isBound:
			if f.beyond[i], err = s.solve(ctx, b.variable, nil); err != nil {
				return nil, err
			}
		}
	}
	candidates := above
	if v.isBound {
		if candidates, err = s.candidates(ctx, v, f.beyond); err != nil {
			return nil, err
		}
	}
	s.choose(v, f, candidates)
	for i, b := range v.branches {
		if f.beyond[i] != nil {
			continue
		}
		from := guesses{}
		for _, entity := range f.entities {
			from[entity] = candidates[entity]
		}
		next, err := s.follow(ctx, b.relation, from)
		if err != nil {
			return nil, err
		}
		if f.beyond[i], err = s.solve(ctx, b.variable, next); err != nil {
			return nil, err
		}
	}
	return f, s.evaluate(ctx, v, f)
}
