package gpu

import (
	"context"
	"math"
	"slices"

	"tagnet/formats/hop"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Together is the largest number of queries that a Scorer computes together, fewer where memory is short: no bit of a
// score depends on it.
const Together = accelerator.Together

// Scorer scores all entities as answers of queries, on a device. It is not safe for concurrent use.
type Scorer struct{ *engine }

// NewScorer returns a scorer with parameters p over g. between is the graph of the relations, or nil: the model makes
// it if it needs one. Nothing else may use the device before Close.
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

// Score answers queries; see answer.Scorer. It checks ctx before each layer that it gives the device.
func (s *Scorer) Score(ctx context.Context, queries []answer.Request, list ranking.Selection) (*answer.Scored, error) {
	out := &answer.Scored{Queries: make([]answer.Ranked, len(queries))}
	for from := 0; from < len(queries); {
		to := min(from+s.capacity, len(queries))
		sent, err := s.chunk(ctx, queries[from:to], list, out.Queries[from:to])
		if err != nil {
			return nil, err
		}
		out.Messages += sent
		from = to
	}
	return out, nil
}

// Close gives the device's memory back. The device stays open.
func (s *Scorer) Close() error { return s.close() }

// chunk answers queries together, and returns the number of messages that were sent.
func (s *Scorer) chunk(ctx context.Context, queries []answer.Request, list ranking.Selection, out []answer.Ranked) (sent int64, err error) {
	n := len(queries)
	encoded := make([]encodedQuery, n)
	for i, q := range queries {
		encoded[i] = s.encode(q.Query)
	}
	s.start(encoded, nil, nil, nil)
	s.search(n)
	s.findRows(n)
	s.embed(n)
	if err := s.propagate(ctx, n); err != nil {
		return 0, err
	}
	s.score(n, s.graph.Entities)
	s.countSent(n)
	if sent, err = s.rank(queries, out); err != nil {
		return 0, err
	}
	sampled := func(q answer.Request) bool { return q.Sample.Negatives > 0 }
	if !list.Plain() || slices.ContainsFunc(queries, sampled) {
		return sent, s.choose(queries, list, out)
	}
	return sent, s.best(queries, list.K, out)
}

// rank ranks the answers of queries that were scored among all entities, and sets everything but the best candidates.
func (s *Scorer) rank(queries []answer.Request, out []answer.Ranked) (sent int64, err error) {
	var labeled []labeledAnswer
	var known []int32
	begin := []int32{0}
	for i, q := range queries {
		out[i] = q.Unranked()
		for at, entity := range q.Answers {
			if entity != graph.None {
				labeled = append(labeled, labeledAnswer{int32(i), entity})
				out[i].Results = append(out[i].Results, answer.Result{Row: q.Rows[at], Answer: entity})
			}
		}
		known = append(known, q.Known...)
		begin = append(begin, int32(len(known)))
	}
	// One launch for all answers, and one that looks for scores that are not finite.
	const fields = 5 // that the kernel writes of an answer
	m, held := &s.memory, len(s.memory.held)
	at, of, list, to := place(m, labeled), place(m, begin), place(m, known), m.allocate(int64(4*fields*len(labeled)))
	bad := m.allocate(int64(4 * len(queries)))
	s.launch("check_scores", len(queries), 256, bad)
	s.launch("rank", len(labeled), 256, at, of, list, to)
	results := values(s.engine, to, make([]int32, fields*len(labeled)))
	notFinite := values(s.engine, bad, make([]int32, len(queries)))
	counts := values(s.engine, s.sent(), make([]int64, s.configuration.Layers*len(queries)))
	if err := m.release(held); err != nil {
		return 0, err
	}
	for i, n := range notFinite {
		if n > 0 {
			return 0, inference.NotFinite(queries[i].Source, queries[i].Relation, int(n), s.graph.Entities)
		}
	}
	// The results come in the order of labeled.
	for i := range out {
		for j := range out[i].Results {
			r := &out[i].Results[j]
			r.Score, r.Distance = math.Float32frombits(uint32(results[0])), distance(results[1])
			r.Rank = ranking.Rank{Pessimistic: int64(results[2]), Optimistic: int64(results[3]) + 1, Candidates: int64(results[4])}
			results = results[fields:]
		}
	}
	for _, count := range counts {
		sent += count
	}
	return sent, nil
}

// distance returns a distance that a kernel wrote.
func distance(d int32) int32 {
	if d == hop.Unreached {
		return hop.Column
	}
	return d
}

// choose sets the best candidates of queries that were scored, and the ranks among a sample, by the
// scores of all entities.
func (s *Scorer) choose(queries []answer.Request, list ranking.Selection, out []answer.Ranked) error {
	v := s.graph.Entities
	scores, distances := make([]float32, v), make([]uint8, v)
	var top []ranking.Candidate
	for i, q := range queries {
		values(s.engine, s.batch.Scores+device.Pointer(4*i*v), scores)
		values(s.engine, s.batch.Reached+device.Pointer(i*v), distances)
		if s.memory.err != nil {
			return s.memory.err
		}
		for j := range out[i].Results {
			if r := &out[i].Results[j]; q.Sample.Negatives > 0 {
				r.Rank = q.RankOf(r.Answer, scores)
			}
		}
		top = list.Top(scores, q.Source, q.Known, top)
		for _, c := range top {
			out[i].Best = append(out[i].Best, answer.Candidate{Entity: c.Entity, Score: c.Score, Known: q.IsKnown(c.Entity),
				Distance: distance(int32(distances[c.Entity]))})
		}
	}
	return nil
}

// best sets the k best candidates of queries that were scored.
func (s *Scorer) best(queries []answer.Request, k int, out []answer.Ranked) error {
	if k <= 0 {
		return s.memory.err
	}
	const fields = 3
	n, held := len(queries), len(s.memory.held)
	to := s.memory.allocate(int64(4 * fields * n * k))
	s.launch("best", n, 256, int32(k), to)
	results := values(s.engine, to, make([]int32, fields*n*k))
	if err := s.memory.release(held); err != nil {
		return err
	}
	for i, q := range queries {
		out[i].Best = make([]answer.Candidate, k)
		for j := range out[i].Best {
			out[i].Best[j] = answer.Candidate{
				Entity: results[0], Score: math.Float32frombits(uint32(results[1])), Known: q.IsKnown(results[0]), Distance: distance(results[2]),
			}
			results = results[fields:]
		}
	}
	return nil
}
