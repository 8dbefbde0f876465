package answer

import (
	"context"

	"tagnet/model/answer/probability"
	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
)

// OverAllFacts returns the model over the graph of all facts.
func (m *Model) OverAllFacts(ctx context.Context) (*Model, error) {
	view, err := m.KG.On(ctx, kg.All)
	if err != nil {
		return nil, err
	}
	return m.withView(view), nil
}

// Observe scores facts in both directions, in their order, each in the graph without it. A fact of the graph takes two
// propagations; others share the propagations of queries that they have in common. done, which may be nil, is called
// with the number of queries that were answered since the last call.
func (m *Model) Observe(ctx context.Context, facts []graph.Fact, done func(queries int)) ([]probability.Observation, error) {
	known, err := m.View.Answers(ctx)
	if err != nil {
		return nil, err
	}
	triples := make([]Triple, len(facts))
	for i, f := range facts {
		triples[i] = Triple{Number: int64(i), Fact: f}
	}
	scored, err := m.Answer(ctx, TripleRequests(m.Graph, known.Of, triples), Kept{Done: done})
	if err != nil {
		return nil, err
	}
	observed := make([]probability.Observation, len(facts))
	for _, o := range scored.Observed() {
		observed[o.Number] = o.Observation
	}
	return observed, nil
}

// NewCandidates returns the k best new answers of each query that are not judged, as facts that are observed in both
// directions. among are the only candidates, ascending; nil allows all entities. Each of the best is queried backward,
// too: facts share the propagations of equal queries, at most n (1 + k) for n queries. done is as in Observe.
func (m *Model) NewCandidates(ctx context.Context, queries []graph.Query, k int, among []int32, done func(queries int)) ([][]probability.Observation, error) {
	observed, _, err := m.newCandidates(ctx, queries, k, among, done)
	return observed, err
}

// newCandidates returns NewCandidates, and the number of inverse queries made.
func (m *Model) newCandidates(ctx context.Context, queries []graph.Query, k int, among []int32, done func(queries int),
) (observed [][]probability.Observation, backward int, err error) {
	judged := m.Judged()
	kept := make([]int, len(queries))
	keep := func(query int, f graph.Fact, _ int64) bool {
		if judged.Verdict(f) != "" || kept[query] == k {
			return false
		}
		kept[query]++
		return true
	}
	if judged.More() == 0 {
		keep = keepAll
	}
	return m.candidates(ctx, queries, k+judged.More(), among, keep, done)
}

func keepAll(int, graph.Fact, int64) bool { return true }

// candidates returns the candidates, judged ones too, that keep accepts by the number of the query, the fact and its
// rank, and the number of inverse queries made.
func (m *Model) candidates(ctx context.Context, queries []graph.Query, k int, among []int32, keep func(query int, f graph.Fact, rank int64) bool,
	done func(queries int),
) (observed [][]probability.Observation, backward int, err error) {
	known, err := m.View.Answers(ctx)
	if err != nil {
		return nil, 0, err
	}
	// Forward: the best new answers.
	asked := make([]Request, len(queries))
	for i, q := range queries {
		q.Answer, q.Removal = graph.None, graph.RemoveNothing
		asked[i] = Request{Query: q, Rows: []int64{int64(i)}, Answers: []int32{graph.None}, Known: known.Of(q.Source, q.Relation)}
	}
	scored, err := m.Answer(ctx, asked, Kept{Selection: ranking.Selection{K: k, Candidates: among, Known: ranking.LeftOut, Ranks: true}, Done: done})
	if err != nil {
		return nil, 0, err
	}
	// Backward: each kept answer's rank for the source, written into its observation.
	observed, rows := m.forward(scored, keep)
	inverse := Group(rows, known.Of)
	answered, err := m.Answer(ctx, inverse, Kept{Done: done})
	if err != nil {
		return nil, 0, err
	}
	var flat []*probability.Observation // by row
	for i := range observed {
		for j := range observed[i] {
			flat = append(flat, &observed[i][j])
		}
	}
	for _, q := range answered.Queries {
		for _, r := range q.Results {
			m.side(flat[r.Row], q.Relation, probability.Side{Score: r.Score, Rank: r.Rank.Pessimistic}, r.Distance)
		}
	}
	return observed, len(inverse), nil
}

// rank sets the ranks of best answers that a device has listed without ranks: they are computed twice.
func (m *Model) rank(ctx context.Context, asked []Request, scored *Scored) error {
	var again []Request
	for i, q := range scored.Queries {
		if len(q.Best) == 0 || q.Best[0].Rank > 0 {
			continue
		}
		r := asked[i]
		r.Rows, r.Answers = nil, nil
		for at, c := range q.Best {
			r.Rows, r.Answers = append(r.Rows, int64(i)<<32|int64(at)), append(r.Answers, c.Entity)
		}
		again = append(again, r)
	}
	if len(again) == 0 {
		return nil
	}
	ranked, err := m.Answer(ctx, again, Kept{})
	if err != nil {
		return err
	}
	for _, q := range ranked.Queries {
		for _, r := range q.Results {
			c := &scored.Queries[r.Row>>32].Best[r.Row&(1<<32-1)]
			c.Score, c.Rank = r.Score, r.Rank.Pessimistic
		}
	}
	return nil
}

// forward returns the kept best answers of queries as facts with one side observed, and the rows of the inverse queries
// for the other side, numbered in the order of all facts.
func (m *Model) forward(scored *Scored, keep func(query int, f graph.Fact, rank int64) bool) (observed [][]probability.Observation, rows []Row) {
	observed = make([][]probability.Observation, len(scored.Queries))
	for i, q := range scored.Queries {
		for _, c := range q.Best {
			o := probability.Observation{Fact: q.Query.Fact(c.Entity, int32(m.Graph.BaseRelations))}
			if !keep(i, o.Fact, c.Rank) {
				continue
			}
			m.side(&o, q.Relation, probability.Side{Score: c.Score, Rank: c.Rank}, c.Distance)
			observed[i] = append(observed[i], o)
			rows = append(rows, Row{Number: int64(len(rows)), Query: graph.Query{Source: c.Entity, Relation: m.Graph.Inverse(q.Relation), Answer: q.Source}})
		}
	}
	return observed, rows
}

// side sets the side of a fact that a query with the relation observed. Hops come from the query for tails: with a
// reach, the other one may find others.
func (m *Model) side(o *probability.Observation, relation int32, side probability.Side, distance int32) {
	if int(relation) < m.Graph.BaseRelations {
		o.Tails, o.Hops = side, distance
		return
	}
	o.Heads = side
}
