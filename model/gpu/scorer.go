package gpu

import (
	"context"
	"fmt"
	"math"

	"tagnet/formats/reach"
	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/graph"
	"tagnet/model/parameters"
	"tagnet/model/ranking"
	"tagnet/model/relations"
)

// Together is the largest number of queries that a Scorer computes together, fewer where memory is short: no bit of a score depends on it.
const Together = 64

// Query is a query (Source, Relation, ?) with answers to rank.
type Query struct {
	Source, Relation int32
	// Answers are ranked among all entities but the other Known ones, which are ascending.
	Answers, Known []int32
	// Removal leaves the query's graph; its source is the query's.
	Removal graph.Removal
	// Choose, unless it is nil, chooses the best candidates from the scores of all entities, which it may change but must not keep. All
	// queries of a call have it, or none.
	Choose func(scores []float32) []ranking.Candidate
}

// Candidate is one of the entities that score highest.
type Candidate struct {
	Entity   int32
	Score    float32
	Distance int32 // from the source, or reach.Column
}

// Answered is the result of a Query, by answer.
type Answered struct {
	Scores    []float32
	Ranks     []ranking.Rank
	Distances []int32 // or reach.Column
	// Best has the highest scores first, equal ones by smaller id.
	Best []Candidate
	// Messages is the number of messages that were sent.
	Messages int64
}

// Scorer scores all entities as answers of queries, on a device. It is not safe for concurrent use.
type Scorer struct{ *engine }

// NewScorer returns a scorer with parameters p over g. between is the graph of the relations, or nil: then it is made where the model
// needs it. Nothing else may use the device before Close.
func NewScorer(d device.Device, g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (*Scorer, error) {
	e, err := newEngine(d, g, between, c, p, false)
	if err != nil {
		return nil, err
	}
	if err := e.placeBuffers(g.Entities, Together, e.free()); err != nil {
		_ = e.close() // the first error says more
		return nil, err
	}
	e.start(nil, nil, nil, nil)
	e.arrange()
	return &Scorer{e}, nil
}

// Score answers queries, and finds for each the given number of best candidates. A score that is NaN or infinite is an error,
// ranking.ErrNotFinite. It checks ctx before each layer that it gives the device.
func (s *Scorer) Score(ctx context.Context, queries []Query, best int) ([]Answered, error) {
	best = min(best, s.graph.Entities)
	out := make([]Answered, 0, len(queries))
	for len(queries) > 0 {
		n := min(s.capacity, len(queries))
		answered, err := s.chunk(ctx, queries[:n], best)
		if err != nil {
			return nil, err
		}
		out, queries = append(out, answered...), queries[n:]
	}
	return out, nil
}

// Close gives the device's memory back. The device stays open.
func (s *Scorer) Close() error { return s.close() }

// chunk answers queries together.
func (s *Scorer) chunk(ctx context.Context, queries []Query, best int) ([]Answered, error) {
	n := len(queries)
	encoded := make([]encodedQuery, n)
	for i, q := range queries {
		if err := s.check(q); err != nil {
			return nil, err
		}
		encoded[i] = s.encode(q.Source, q.Relation, q.Removal)
	}
	s.start(encoded, nil, nil, nil)
	s.search(n)
	s.findRows(n)
	s.embed(n)
	if err := s.propagate(ctx, n); err != nil {
		return nil, err
	}
	s.score(n, s.graph.Entities)
	s.countSent(n)
	out := make([]Answered, n)
	if err := s.rank(queries, out); err != nil {
		return nil, err
	}
	if queries[0].Choose != nil {
		return out, s.choose(queries, out)
	}
	return out, s.best(n, best, out)
}

// check returns an error for what the graph does not have.
func (s *Scorer) check(q Query) error {
	inside := func(entity int32) bool { return entity >= 0 && int(entity) < s.graph.Entities }
	ok := inside(q.Source) && q.Relation >= 0 && int(q.Relation) < s.graph.RelationCount()
	ok = ok && (!q.Removal.Active || q.Removal.Source == q.Source && inside(q.Removal.Answer))
	for _, list := range [][]int32{q.Answers, q.Known} {
		for _, entity := range list {
			ok = ok && inside(entity)
		}
	}
	if !ok {
		return fmt.Errorf("scoring (%d, %d, ?): an entity is outside 0..%d or the relation outside 0..%d",
			q.Source, q.Relation, s.graph.Entities-1, s.graph.RelationCount()-1)
	}
	return nil
}

// rank ranks the answers of queries that were scored, and sets everything but the best candidates.
func (s *Scorer) rank(queries []Query, out []Answered) error {
	var answers []answer
	var known []int32
	begin := []int32{0}
	for i, q := range queries {
		for _, entity := range q.Answers {
			answers = append(answers, answer{int32(i), entity})
		}
		for k, entity := range q.Known {
			if k == 0 || entity != q.Known[k-1] {
				known = append(known, entity)
			}
		}
		begin = append(begin, int32(len(known)))
	}
	const fields = 5 // that the kernel writes of an answer
	m, held := &s.memory, len(s.memory.held)
	at, of, list, to := place(m, answers), place(m, begin), place(m, known), m.allocate(int64(4*fields*len(answers)))
	bad := m.allocate(int64(4 * len(queries)))
	s.launch("check_scores", len(queries), 256, bad)
	s.launch("rank", len(answers), 256, at, of, list, to)
	results := values(s.engine, to, make([]int32, fields*len(answers)))
	notFinite := values(s.engine, bad, make([]int32, len(queries)))
	sent := values(s.engine, s.sent(), make([]int64, s.configuration.Layers*len(queries)))
	if err := m.release(held); err != nil {
		return err
	}
	for i, n := range notFinite {
		if n > 0 {
			return ranking.NotFinite(queries[i].Source, queries[i].Relation, int(n), s.graph.Entities)
		}
	}
	for i, r := range answers {
		a, result := &out[r.Query], results[fields*i:][:fields]
		score := math.Float32frombits(uint32(result[0]))
		rank := ranking.Rank{Pessimistic: int64(result[2]), Optimistic: int64(result[3]) + 1, Candidates: int64(result[4])}
		a.Scores, a.Ranks = append(a.Scores, score), append(a.Ranks, rank)
		a.Distances = append(a.Distances, distance(result[1]))
	}
	for i, count := range sent {
		out[i%len(queries)].Messages += count
	}
	return nil
}

// distance returns a distance that a kernel wrote.
func distance(d int32) int32 {
	if d == reach.Unreached {
		return reach.Column
	}
	return d
}

// choose sets the best candidates that queries choose from their scores.
func (s *Scorer) choose(queries []Query, out []Answered) error {
	v := s.graph.Entities
	scores, distances := make([]float32, v), make([]uint8, v)
	for i, q := range queries {
		values(s.engine, s.batch.Scores+device.Pointer(4*i*v), scores)
		values(s.engine, s.batch.Reached+device.Pointer(i*v), distances)
		if s.memory.err != nil {
			return s.memory.err
		}
		for _, c := range q.Choose(scores) {
			out[i].Best = append(out[i].Best, Candidate{c.Entity, c.Score, distance(int32(distances[c.Entity]))})
		}
	}
	return nil
}

// best sets the best candidates of n queries that were scored.
func (s *Scorer) best(n, k int, out []Answered) error {
	if k <= 0 {
		return s.memory.err
	}
	const fields = 3
	held := len(s.memory.held)
	to := s.memory.allocate(int64(4 * fields * n * k))
	s.launch("best", n, 256, int32(k), to)
	results := values(s.engine, to, make([]int32, fields*n*k))
	if err := s.memory.release(held); err != nil {
		return err
	}
	for i := range out {
		out[i].Best = make([]Candidate, k)
		for j := range k {
			result := results[fields*(i*k+j):][:fields]
			out[i].Best[j] = Candidate{result[0], math.Float32frombits(uint32(result[1])), distance(result[2])}
		}
	}
	return nil
}
