package ask

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// oracle is the model of a workspace, which answers by observing every fact that could be an answer.
type oracle struct {
	t         testing.TB
	m         *answer.Model
	estimator *probability.Estimator // nil without probabilities
}

// judged is an entity as an answer of a query.
type judged struct {
	parquet.Answer
	id    int32
	order probability.Estimate
}

// all returns what is said of every entity as an answer of a query.
func (o *oracle) all(source, relation string) (list []judged) {
	o.t.Helper()
	name, inverse := strings.CutPrefix(relation, "~")
	asked, err := o.m.KG.Lookup(o.m.View).Query(o.t.Context(), source, name, inverse)
	if err != nil {
		o.t.Fatal(err)
	}
	base, direction := asked.Relation, metrics.Tail
	if inverse {
		base, direction = o.m.Graph.Inverse(asked.Relation), metrics.Head
	}
	facts := make([]graph.Fact, o.m.Graph.Entities)
	for e := range facts {
		facts[e] = graph.Fact{Head: asked.Source, Relation: base, Tail: int32(e)}
		if inverse {
			facts[e].Head, facts[e].Tail = int32(e), asked.Source
		}
	}
	observed, err := o.m.Observe(o.t.Context(), facts, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	known, err := o.m.View.Answers(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	for e := range observed {
		of, other := observed[e].Tails, observed[e].Heads
		if inverse {
			of, other = other, of
		}
		j := judged{id: int32(e), Answer: parquet.Answer{
			Direction: direction, Source: source, Relation: name, Entity: o.m.View.Entities[e],
			Score: of.Score, Rank: of.Rank, OtherScore: other.Score, OtherRank: other.Rank, Hops: observed[e].Hops,
		}}
		_, j.Known = slices.BinarySearch(known.Of(asked.Source, asked.Relation), int32(e))
		if o.estimator != nil {
			j.order = o.estimator.Estimate(&observed[e])
		}
		if j.order.HasProbability {
			j.Probability = &j.order.Probability
		}
		if j.Known || int32(e) != asked.Source {
			list = append(list, j)
		}
	}
	return list
}

// answers returns the answers to a query by the rules: of the best new ones by score, at least 10, the k surest, and
// the known ones, if they are wanted. candidates, unless nil, are the only ones.
func (o *oracle) answers(query int64, source, relation string, candidates []string, k int, known bool) (rows []parquet.Answer) {
	o.t.Helper()
	list := o.all(source, relation)
	if candidates != nil {
		list = slices.DeleteFunc(list, func(j judged) bool { return !slices.Contains(candidates, j.Entity) })
	}
	byScore := func(a, b judged) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.id, b.id)) }
	bySureness := func(a, b judged) int { return cmp.Or(a.order.Compare(b.order), byScore(a, b)) }
	fresh := slices.DeleteFunc(slices.Clone(list), func(j judged) bool { return j.Known })
	slices.SortFunc(fresh, byScore)
	fresh = fresh[:min(len(fresh), max(k, 10))]
	slices.SortFunc(fresh, bySureness)
	fresh = fresh[:min(len(fresh), k)]
	if known {
		fresh = append(fresh, slices.DeleteFunc(list, func(j judged) bool { return !j.Known })...)
		slices.SortFunc(fresh, bySureness)
	}
	for i, j := range fresh {
		j.Query, j.Position = query, int32(i+1)
		rows = append(rows, j.Answer)
	}
	return rows
}
