package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/tables"
	"tagnet/model/parallel"
	"tagnet/model/ranking"
)

// Query asks for the tails of a relation from a source, (Source, Relation, ?).
type Query struct {
	// Source and Relation are names. A leading ~ on the relation asks the inverse query, as Inverse does.
	Source, Relation string
	// Inverse asks for the heads of the relation: (?, Relation, Source).
	Inverse bool
}

// ids looks up the names of a query.
func (m *Model) ids(ctx context.Context, q Query) (tables.Query, error) {
	relation, inverse := strings.CutPrefix(q.Relation, "~")
	return m.lookup.Query(ctx, q.Source, relation, inverse || q.Inverse)
}

// Answer is an entity that the model ranks among the best answers of a query.
type Answer struct {
	Entity string
	// Score is the model's logit, which orders the answers. How likely an answer with a score is true differs between
	// models and relations.
	Score float32
	// Probability is the calibrated probability that the answer is true, or nil if the checkpoint has no calibration.
	Probability *float64
	// Hops is the least number of edges from the source to the entity, or Unreached where the entity is
	// farther away than the model has layers.
	Hops int
	// Known is true if the answer is one of the facts of the graph or of its validation and test splits.
	Known bool
}

// Unreached is the number of hops to an entity that no message from the source reaches.
const Unreached = -1

// AskOption changes which answers Ask and AskAll return.
type AskOption func(*asking)

type asking struct {
	known      ranking.Known
	candidates []string // nil for all entities
	kind       *string  // a type, of OfType
}

// OnlyNew leaves out known answers, and the source itself.
func OnlyNew() AskOption { return func(a *asking) { a.known = ranking.LeftOut } }

// Among leaves out all answers but the given entities.
func Among(entities []string) AskOption {
	return func(a *asking) { a.candidates = append([]string{}, entities...) }
}

// selection returns what is listed of k answers.
func (m *Model) selection(ctx context.Context, k int, options []AskOption) (ranking.Selection, error) {
	var a asking
	for _, option := range options {
		option(&a)
	}
	s := ranking.Selection{K: min(k, len(m.view.Entities)), Known: a.known}
	if a.kind != nil {
		var err error
		s.Candidates, err = m.view.OfType(ctx, *a.kind)
		return s, err
	}
	if a.candidates == nil {
		return s, nil
	}
	s.Candidates = make([]int32, len(a.candidates))
	for i, name := range a.candidates {
		var err error
		if s.Candidates[i], err = m.lookup.Entity(ctx, name); err != nil {
			return s, fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	slices.Sort(s.Candidates)
	s.Candidates = slices.Compact(s.Candidates)
	return s, nil
}

// Ask returns the k best answers of a query, best first, known ones among them unless the options leave them out; fewer where
// there are fewer. The error of an unknown entity or relation is an *UnknownNameError.
func (m *Model) Ask(ctx context.Context, query Query, k int, options ...AskOption) ([]Answer, error) {
	answers, err := m.AskAll(ctx, []Query{query}, k, options...)
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// chunk is the most queries of a source that a worker takes at once, so that hubs are shared between workers.
const chunk = 8

// AskAll returns the k best answers of each query, in the order of the queries. It answers the queries of a
// source together and uses all workers; the answers equal those of Ask. If a name is unknown, no query is
// answered. It checks ctx before each chunk of queries.
func (m *Model) AskAll(ctx context.Context, queries []Query, k int, options ...AskOption) ([][]Answer, error) {
	if k < 1 {
		return nil, fmt.Errorf("asking for %d answers, want 1 or more", k)
	}
	list, err := m.selection(ctx, k, options)
	if err != nil {
		return nil, err
	}
	ids := make([]tables.Query, len(queries))
	order := make([]int, len(queries))
	for i, q := range queries {
		var err error
		if ids[i], err = m.ids(ctx, q); err != nil {
			return nil, fmt.Errorf("query %d: %w", i+1, err)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ids[a].Source, ids[b].Source) })
	var chunks [][]int // indices of queries that share a source
	for len(order) > 0 {
		n := 1
		for n < min(chunk, len(order)) && ids[order[n]].Source == ids[order[0]].Source {
			n++
		}
		chunks = append(chunks, order[:n])
		order = order[n:]
	}
	answers := make([][]Answer, len(queries))
	err = parallel.Try(ctx, cap(m.idle), len(chunks), func(ctx context.Context, _, task int) error {
		w, err := m.acquire(ctx)
		if err != nil {
			return err
		}
		defer func() { m.idle <- w }()
		return m.answer(ctx, w, ids, chunks[task], list, answers)
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// acquire returns a worker that is not in use. It makes one only if all that are made are in use.
func (m *Model) acquire(ctx context.Context) (*worker, error) {
	select {
	case w := <-m.idle:
		return w, nil
	default:
	}
	select {
	case w := <-m.idle:
		return w, nil
	case <-m.unmade:
		entities := m.view.Graph.Entities
		return &worker{Worker: m.inference.Worker(), scores: [][]float32{make([]float32, entities), make([]float32, entities)}}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answer answers the queries ids[i], for each i of a chunk, into answers[i].
func (m *Model) answer(ctx context.Context, w *worker, ids []tables.Query, chunk []int, list ranking.Selection, answers [][]Answer) error {
	source := ids[chunk[0]].Source
	for len(chunk) > 0 {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		together := chunk[:min(len(w.scores), len(chunk))]
		chunk = chunk[len(together):]
		relations := make([]int32, len(together))
		for j, i := range together {
			relations[j] = ids[i].Relation
		}
		if err := w.Scores(ctx, source, relations, w.scores[:len(together)]); err != nil {
			return fmt.Errorf("answering queries of %s with %s: %w", m.view.Entities[source], m.Checkpoint(), err)
		}
		for j, i := range together {
			known := m.known.Of(source, relations[j])
			w.top = list.Top(w.scores[j], source, known, w.top)
			for _, c := range w.top {
				answers[i] = append(answers[i], m.named(w, relations[j], c, known))
			}
		}
	}
	return nil
}

// named turns a candidate of the last query, which has the relation, into an answer.
func (m *Model) named(w *worker, relation int32, c ranking.Candidate, known []int32) Answer {
	a := Answer{Entity: m.view.Entities[c.Entity], Score: c.Score, Hops: Unreached}
	_, a.Known = slices.BinarySearch(known, c.Entity)
	if hops, reached := w.Distance(c.Entity); reached {
		a.Hops = hops
	}
	if m.calibration != nil {
		p := m.calibration.Probability(relation, c.Score)
		a.Probability = &p
	}
	return a
}
