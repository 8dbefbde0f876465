package pattern

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
)

// guess is a first guess of the value of an entity for a variable.
type guess struct {
	p float64
	// stated is set if the entity follows by stated facts.
	stated bool
}

type guesses map[int32]guess

// raise sets a guess unless there is a higher one.
func (g guesses) raise(entity int32, to guess) {
	now := g[entity]
	g[entity] = guess{max(now.p, to.p), now.stated || to.stated}
}

// best returns the entities, the best first, those of equal guesses ascending.
func (g guesses) best() []int32 {
	entities := slices.Sorted(maps.Keys(g))
	slices.SortStableFunc(entities, func(a, b int32) int { return cmp.Compare(g[b].p, g[a].p) })
	return entities
}

// unlisted is the guess of the value of an entity that does not follow from a branch. Its probability is found later.
const unlisted = 1e-3

// both returns guesses multiplied by those of another branch. Without an estimator, only what has both remains.
func (s *search) both(g, other guesses) guesses {
	product := guesses{}
	for _, one := range []guesses{g, other} {
		for entity := range one {
			a, inFirst := g[entity]
			b, inOther := other[entity]
			switch {
			case inFirst && inOther:
				product[entity] = guess{a.p * b.p, a.stated && b.stated}
			case s.Estimator != nil:
				product[entity] = guess{max(a.p, b.p) * unlisted, false}
			}
		}
	}
	return product
}

// candidates returns entities for a variable that follow from what is beyond it.
func (s *search) candidates(ctx context.Context, v *variable, beyond []*found) (all guesses, err error) {
	for i, b := range v.branches {
		if !b.binds() {
			continue
		}
		from := guesses{}
		for j, entity := range beyond[i].entities {
			from[entity] = guess{p: beyond[i].values[j].p}
		}
		next, err := s.follow(ctx, s.Model.Graph.Inverse(b.relation), from)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = next
			continue
		}
		all = s.both(all, next)
	}
	return all, nil
}

// follow returns the answers of the queries of a relation from entities: stated ones, and the best others of the best
// entities, or all entities where as many are followed.
func (s *search) follow(ctx context.Context, relation int32, from guesses) (guesses, error) {
	to := guesses{}
	if s.Estimator != nil && s.Bindings >= s.Model.Graph.Entities {
		for entity := range int32(s.Model.Graph.Entities) {
			to[entity] = guess{p: 1}
		}
		return to, nil
	}
	entities := from.best()
	for _, entity := range entities {
		for _, other := range s.stated(graph.Query{Source: entity, Relation: relation, Answer: graph.None}) {
			to.raise(other, guess{from[entity].p, true})
		}
	}
	entities = entities[:min(s.Bindings, len(entities))]
	if s.Estimator == nil || len(entities) == 0 {
		return to, nil
	}
	// Scores in one direction choose. Those in both are looked at for what is chosen.
	asked := make([]answer.Request, len(entities))
	for i, entity := range entities {
		q := graph.Query{Source: entity, Relation: relation, Answer: graph.None}
		known := s.Model.Judged().WithKnown(q, s.Known.Of(q.Source, q.Relation))
		asked[i] = answer.Request{Query: q, Rows: []int64{int64(i)}, Answers: []int32{graph.None}, Known: known}
	}
	listed := ranking.Selection{K: max(probability.DefaultK, s.Bindings/len(entities)), Known: ranking.LeftOut}
	scored, err := s.Model.Answer(ctx, asked, answer.Kept{Selection: listed, Done: s.Done})
	if err != nil {
		return nil, err
	}
	for i, of := range scored.Queries {
		for _, c := range of.Best {
			to.raise(c.Entity, guess{p: from[entities[i]].p / (1 + math.Exp(-float64(c.Score)))})
		}
	}
	return to, nil
}

// stated returns the stated answers of a query, ascending.
func (s *search) stated(q graph.Query) []int32 {
	return s.Model.Judged().Stated(q, s.Known.Of(q.Source, q.Relation), s.Model.Graph.BaseRelations)
}

// choose sets the entities for a variable: the best candidates, of those that follow by stated facts and of others,
// which are followed, and all others that follow by stated facts, unless the variable has a negated atom.
func (s *search) choose(v *variable, f *found, candidates guesses) {
	most, negated := s.Bindings, slices.ContainsFunc(v.branches, func(b branch) bool { return b.negated })
	if v == s.root {
		most = max(most, s.Best)
	}
	followed, dropped := map[int32]bool{}, 0
	seen := map[bool]int{} // by whether they follow by stated facts
	for _, entity := range candidates.best() {
		of := candidates[entity]
		followed[entity] = seen[of.stated] < most || s.Estimator == nil
		seen[of.stated]++
		switch {
		case followed[entity] || of.stated && !negated:
			f.entities = append(f.entities, entity)
		case of.stated && probability.Likely(of.p):
			dropped++
		}
	}
	if dropped > 0 {
		s.cuts = append(s.cuts, Cut{v.name, most + dropped, most})
	}
	slices.Sort(f.entities)
	for _, entity := range f.entities {
		f.followed = append(f.followed, followed[entity])
	}
}
