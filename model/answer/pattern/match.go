package pattern

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sort"

	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
)

// Matcher finds the answers of patterns.
type Matcher struct {
	// Model is over the graph of all facts, and Known has them.
	Model *answer.Model
	Known tables.Answers
	// Estimator gives the probabilities of facts that are not stated; nil takes stated facts alone.
	Estimator *probability.Estimator
	// Bindings is the number of best entities of a variable that are followed; stated facts alone are followed from all.
	Bindings int
	// Best is the number of best answers.
	Best int
	// Done, which may be nil, counts as in answer.Model.Observe.
	Done func(queries int)
}

// DefaultBindings is the number of entities of a variable that are followed, where nobody says how many.
const DefaultBindings = 64

// Match is an answer with the best entities for the other variables.
type Match struct {
	Entity int32
	// Probability is the product of the probabilities of Facts, of the negations of those whose atom is negated. LogOdds
	// tell answers of equal probability apart: the sum of the log odds of facts that are not stated, less for negations.
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

// Cut says that a variable has more likely entities, by a first guess, than are followed.
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
	order := answers.best()
	for _, i := range order[:min(m.Best, len(order))] {
		v := answers.values[i]
		one := Match{Entity: answers.entities[i], Probability: v.p, LogOdds: v.logOdds, Facts: make([]Fact, len(p.Atoms))}
		answers.facts(p.root, i, one.Facts)
		matches = append(matches, one)
	}
	return matches, s.cuts, nil
}

// best returns the numbers of the entities, the best first.
func (f *found) best() []int {
	order := make([]int, len(f.entities))
	for i := range order {
		order[i] = i
	}
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

// solve returns the entities for a variable. above has candidates, by a first guess of their values, where nothing
// below binds it.
func (s *search) solve(ctx context.Context, v *variable, above map[int32]float64) (_ *found, err error) {
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
	guesses := above
	if v.isBound {
		if guesses, err = s.candidates(ctx, v, f.beyond); err != nil {
			return nil, err
		}
	}
	f.entities = s.cut(v, guesses)
	for i, b := range v.branches {
		if f.beyond[i] != nil {
			continue
		}
		from := make(map[int32]float64, len(f.entities))
		for _, entity := range f.entities {
			from[entity] = guesses[entity]
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

// candidates returns entities for a variable by a first guess of their values: the best that follow from what is beyond.
func (s *search) candidates(ctx context.Context, v *variable, beyond []*found) (map[int32]float64, error) {
	guesses, first := map[int32]float64{}, true
	for i, b := range v.branches {
		if !b.binds() {
			continue
		}
		from := map[int32]float64{}
		for j, entity := range beyond[i].entities {
			from[entity] = beyond[i].values[j].p
		}
		next, err := s.follow(ctx, s.Model.Graph.Inverse(b.relation), from)
		if err != nil {
			return nil, err
		}
		if first {
			guesses, first = next, false
			continue
		}
		s.both(guesses, next)
	}
	return guesses, nil
}

// unlisted is the guess of the value of an entity that does not follow from a branch. Its probability is found later.
const unlisted = 1e-3

// both multiplies guesses by those of another branch.
func (s *search) both(guesses, next map[int32]float64) {
	for entity, guess := range guesses {
		switch other, is := next[entity]; {
		case is:
			guesses[entity] = guess * other
		case s.Estimator == nil:
			delete(guesses, entity)
		default:
			guesses[entity] = guess * unlisted
		}
		delete(next, entity)
	}
	if s.Estimator == nil {
		return
	}
	for entity, guess := range next {
		guesses[entity] = guess * unlisted
	}
}

// follow returns the answers of the queries of a relation from entities with values, with a first guess of theirs: all
// entities where so many are followed.
func (s *search) follow(ctx context.Context, relation int32, from map[int32]float64) (map[int32]float64, error) {
	guesses := map[int32]float64{}
	if s.Estimator != nil && s.Bindings >= s.Model.Graph.Entities {
		for entity := range int32(s.Model.Graph.Entities) {
			guesses[entity] = 1
		}
		return guesses, nil
	}
	entities := slices.Sorted(maps.Keys(from))
	queries := make([]graph.Query, len(entities))
	for i, entity := range entities {
		queries[i] = graph.Query{Source: entity, Relation: relation, Answer: graph.None}
		for _, to := range s.stated(queries[i]) {
			guesses[to] = max(guesses[to], from[entity])
		}
	}
	if s.Estimator == nil || len(queries) == 0 {
		return guesses, nil
	}
	// The scores in one direction choose; both are looked at for those that are chosen.
	asked := make([]answer.Request, len(queries))
	for i, q := range queries {
		known := s.Model.Judged().WithKnown(q, s.Known.Of(q.Source, q.Relation))
		asked[i] = answer.Request{Query: q, Rows: []int64{int64(i)}, Answers: []int32{graph.None}, Known: known}
	}
	listed := ranking.Selection{K: max(probability.DefaultK, s.Bindings/len(queries)), Known: ranking.LeftOut}
	scored, err := s.Model.Answer(ctx, asked, answer.Kept{Selection: listed, Done: s.Done})
	if err != nil {
		return nil, err
	}
	for i, of := range scored.Queries {
		for _, c := range of.Best {
			guesses[c.Entity] = max(guesses[c.Entity], from[entities[i]]/(1+math.Exp(-float64(c.Score))))
		}
	}
	return guesses, nil
}

// stated returns the stated answers of a query.
func (s *search) stated(q graph.Query) (answers []int32) {
	known := s.Known.Of(q.Source, q.Relation)
	for _, to := range s.Model.Judged().WithKnown(q, known) {
		if s.isStated(q.Fact(to, int32(s.Model.Graph.BaseRelations)), known, to) {
			answers = append(answers, to)
		}
	}
	return answers
}

// isStated reports whether a known answer of a query, or one that was judged, is stated.
func (s *search) isStated(f graph.Fact, known []int32, answered int32) bool {
	_, is := slices.BinarySearch(known, answered)
	return is || s.Model.Judged().Verdict(f) == answer.JudgedTrue
}

// cut returns the best candidates for a variable, ascending: all of stated facts alone.
func (s *search) cut(v *variable, guesses map[int32]float64) []int32 {
	entities := slices.Sorted(maps.Keys(guesses))
	most := s.Bindings
	if v == s.root {
		most = max(most, s.Best)
	}
	if s.Estimator == nil || len(entities) <= most {
		return entities
	}
	slices.SortStableFunc(entities, func(a, b int32) int { return cmp.Compare(guesses[b], guesses[a]) })
	likely := sort.Search(len(entities), func(i int) bool { return !probability.Likely(guesses[entities[i]]) })
	if entities = entities[:most]; likely > most {
		s.cuts = append(s.cuts, Cut{v.name, likely, most})
	}
	slices.Sort(entities)
	return entities
}

// evaluate sets the values of the entities for a variable, and leaves out those without one.
func (s *search) evaluate(ctx context.Context, v *variable, f *found) error {
	f.values = make([]value, len(f.entities))
	for i := range f.values {
		f.values[i] = value{p: 1, ends: make([]end, 0, len(v.branches))}
	}
	for i := range v.branches {
		best, err := s.bestEnds(ctx, &v.branches[i], f.entities, f.beyond[i])
		if err != nil {
			return err
		}
		for j := range f.values {
			to := &f.values[j]
			to.p, to.logOdds, to.ends = to.p*best[j].p, to.logOdds+best[j].logOdds, append(to.ends, best[j].ends...)
		}
	}
	kept := &found{}
	for i, entity := range f.entities {
		if f.values[i].p > 0 {
			kept.entities, kept.values = append(kept.entities, entity), append(kept.values, f.values[i])
		}
	}
	f.entities, f.values = kept.entities, kept.values
	return nil
}

// MostPairs is the most pairs of entities that are estimated at a time, 256 bytes each.
const MostPairs = 1 << 18

// pair is a pair of entities by their numbers, and its fact.
type pair struct {
	from, to int
	fact     graph.Fact
}

// bestEnds returns, for each entity, the best product over the other ends of a branch, 0 where there is none.
func (s *search) bestEnds(ctx context.Context, b *branch, entities []int32, beyond *found) ([]value, error) {
	best := make([]value, len(entities))
	consider := func(p pair, stated bool, truth, logOdds float64) {
		of := beyond.values[p.to]
		product, odds := of.p*truth, of.logOdds+logOdds
		if b.negated {
			product, odds = of.p*(1-truth), of.logOdds-logOdds
		}
		if now := best[p.from]; product > 0 && cmp.Or(cmp.Compare(now.p, product), cmp.Compare(now.logOdds, odds)) < 0 {
			best[p.from] = value{product, odds, []end{{p.to, Fact{p.fact, stated, truth}}}}
		}
	}
	ask := func(pairs []pair) error {
		facts := make([]graph.Fact, len(pairs))
		for i, p := range pairs {
			facts[i] = p.fact
		}
		estimates, err := s.estimate(ctx, facts)
		for i, e := range estimates {
			consider(pairs[i], false, e.Probability, e.LogOdds)
		}
		return err
	}
	var pairs []pair
	for from, entity := range entities {
		q := graph.Query{Source: entity, Relation: b.relation, Answer: graph.None}
		stated := s.stated(q)
		for to, other := range beyond.entities { // first those that are stated, which make most others needless
			if _, is := slices.BinarySearch(stated, other); is {
				consider(pair{from, to, q.Fact(other, int32(s.Model.Graph.BaseRelations))}, true, 1, 0)
			}
		}
		for to, other := range beyond.entities {
			p := pair{from, to, q.Fact(other, int32(s.Model.Graph.BaseRelations))}
			_, is := slices.BinarySearch(stated, other)
			switch refused := s.Model.Judged().Verdict(p.fact) == answer.JudgedFalse; {
			case is || best[from].p >= beyond.values[to].p:
			case s.Estimator == nil || refused:
				consider(p, false, 0, 0)
			default:
				pairs = append(pairs, p)
			}
			if len(pairs) == MostPairs {
				if err := ask(pairs); err != nil {
					return nil, err
				}
				pairs = pairs[:0]
			}
		}
	}
	return best, ask(pairs)
}

// estimate returns the estimates of facts that are not stated.
func (s *search) estimate(ctx context.Context, facts []graph.Fact) ([]answer.Estimated, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	observed, err := s.Model.Observe(ctx, facts, s.Done)
	if err != nil {
		return nil, err
	}
	list, _, err := s.Model.Estimate(ctx, observed, s.Estimator, s.Done)
	return list, err
}
