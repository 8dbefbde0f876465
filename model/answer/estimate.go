package answer

import (
	"context"
	"slices"

	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// rivals are the best new answers of a query one of which is true at most.
type rivals struct {
	among []int32 // ascending
	// likely is the sum of their probabilities that are divided (probability.Likely), rest that of the others.
	likely, rest float64
}

// rivalsOf returns the rivals among a query's candidates, which are ordered by score.
func rivalsOf(relation int32, candidates []Estimated) *rivals {
	r := &rivals{}
	for _, c := range candidates[:min(probability.DefaultK, len(candidates))] {
		r.among = append(r.among, c.Entity(relation))
		if probability.Likely(c.Probability) {
			r.likely += c.Probability
		} else {
			r.rest += c.Probability
		}
	}
	slices.Sort(r.among)
	return r
}

// divisor returns what the likely probability p of an entity as an answer is divided by, if that is above 1: so that
// the rivals' sum is 1.
func (r *rivals) divisor(entity int32, p float64) float64 {
	if _, is := slices.BinarySearch(r.among, entity); is {
		return r.likely / (1 - r.rest)
	}
	return r.likely + r.rest + p
}

// Estimate returns observations with estimates; without an estimator, which may be nil, these are zero. Where one
// answer of a query is true at most (probability.Estimator.Rivals), likely ones are divided so that the sum of the
// best answers' probabilities, for which it is queried, is 1: the estimate of a fact is the same everywhere.
// done is as in Observe; queries is the number of those made.
func (m *Model) Estimate(ctx context.Context, observed []probability.Observation, e *probability.Estimator, done func(queries int),
) (list []Estimated, queries int, err error) {
	list = m.estimated(observed, e)
	queries, err = m.divide(ctx, list, e, map[graph.Query]*rivals{}, done)
	return list, queries, err
}

// estimated returns observations with estimates that are not divided.
func (m *Model) estimated(observed []probability.Observation, e *probability.Estimator) []Estimated {
	list := make([]Estimated, len(observed))
	for i, o := range observed {
		if list[i].Observation = o; e == nil {
			continue
		}
		list[i].Estimate = e.Estimate(&o)
		list[i].Probability = m.givenVerdicts(e, o.Fact, list[i].Probability)
	}
	return list
}

// dividedTogether is the number of queries whose rivals are in memory at a time.
const dividedTogether = 1 << 12

// divide divides the estimates of a list, and returns the number of queries that this took. known has the
// rivals of some queries.
func (m *Model) divide(ctx context.Context, list []Estimated, e *probability.Estimator, known map[graph.Query]*rivals, done func(queries int),
) (queries int, err error) {
	if e == nil {
		return 0, nil
	}
	// Equal queries are made once.
	var asked []graph.Query
	for i := range list {
		for _, q := range e.Rivals(list[i].Fact, list[i].Probability) {
			if known[q] == nil {
				known[q] = &rivals{}
				asked = append(asked, q)
			}
		}
	}
	for part := range slices.Chunk(asked, dividedTogether) {
		found, backward, err := m.newCandidates(ctx, part, probability.DefaultK, nil, done)
		if err != nil {
			return 0, err
		}
		queries += len(part) + backward
		for i, q := range part {
			known[q] = rivalsOf(q.Relation, m.estimated(found[i], e))
		}
	}
	for i := range list {
		divisor := 1.
		for _, q := range e.Rivals(list[i].Fact, list[i].Probability) {
			divisor = max(divisor, known[q].divisor(list[i].Entity(q.Relation), list[i].Probability))
		}
		list[i].Probability /= divisor
	}
	return queries, nil
}
