package score

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"tagnet/model/ranking"
	"tagnet/model/search"
	"tagnet/stages/bundle"
)

// Worker scores all entities for one question at a time; model/inference has it.
type Worker interface {
	// Scores sets each of scores, one entry per entity, to the logits of (source, relation, ?)
	// for each of relations.
	Scores(source int32, relations []int32, scores [][]float32) error
	// Sent is the number of messages that the last call sent.
	Sent() int64
}

// Ranker ranks the answers of bundles. Per worker it holds two arrays of scores and one of
// distances: 9 bytes an entity.
type Ranker struct {
	entities, relations int
	best                int
	seats               []*seat
}

// seat is a worker with its arrays.
type seat struct {
	worker    Worker
	rows      *bundle.RowReader
	distances []uint8
	scores    [][]float32 // of the questions that are asked together
	relations []int32
	top       []ranking.Candidate
}

// NewRanker ranks over a graph of that many entities and relations (2R), with a thread for
// each worker, and keeps the given number of best candidates per question. The number of
// workers changes nothing in what comes out.
func NewRanker(entities, relations, best int, workers []Worker) (*Ranker, error) {
	r := &Ranker{entities: entities, relations: relations, best: min(best, entities)}
	for _, w := range workers {
		rows, err := bundle.NewRowReader(entities)
		if err != nil {
			return nil, err
		}
		r.seats = append(r.seats, &seat{
			worker: w, rows: rows,
			distances: make([]uint8, entities), scores: [][]float32{make([]float32, entities), make([]float32, entities)},
			top: make([]ranking.Candidate, 0, r.best),
		})
	}
	return r, nil
}

// portion is the most questions of a source that a worker takes at once: hubs are shared out.
const portion = 8

// Rank scores every question of a bundle. done, which may be nil, is called from any thread
// with the number of queries that were finished since.
func (r *Ranker) Rank(ctx context.Context, b *bundle.Bundle, done func(queries int)) (*Scored, error) {
	if err := b.Check(r.entities, r.relations); err != nil {
		return nil, err
	}
	type job struct {
		group    *bundle.Group
		from, to int // questions of the group
		at       int // where in the output
	}
	var jobs []job
	total := 0
	for i := range b.Groups {
		g := &b.Groups[i]
		for from := 0; from < len(g.Questions); from += portion {
			to := min(from+portion, len(g.Questions))
			jobs = append(jobs, job{g, from, to, total})
			total += to - from
		}
	}
	out := &Scored{Number: b.Number, Questions: make([]Question, total)}
	var next, messages atomic.Int64
	var first error
	var once sync.Once
	var wait sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, s := range r.seats {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) || ctx.Err() != nil {
					return
				}
				j := jobs[i]
				sent, err := s.portion(j.group, j.group.Questions[j.from:j.to], out.Questions[j.at:], r.best, done)
				if err != nil {
					once.Do(func() { first = err; cancel() })
					return
				}
				messages.Add(sent)
			}
		})
	}
	wait.Wait()
	if first != nil {
		return nil, first
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.Messages = messages.Load()
	return out, nil
}

// portion scores some questions of a source and writes them to the front of out.
func (s *seat) portion(g *bundle.Group, questions []bundle.Question, out []Question, k int, done func(int)) (sent int64, err error) {
	if err := s.rows.Read(g.Distances, s.distances); err != nil {
		return 0, fmt.Errorf("distances of source %d: %w", g.Source, err)
	}
	for len(questions) > 0 {
		together := min(len(s.scores), len(questions))
		s.relations = s.relations[:0]
		for _, q := range questions[:together] {
			s.relations = append(s.relations, q.Relation)
		}
		if err := s.worker.Scores(g.Source, s.relations, s.scores[:together]); err != nil {
			return 0, fmt.Errorf("scoring (%d, %v, ?): %w", g.Source, s.relations, err)
		}
		sent += s.worker.Sent()
		for i, q := range questions[:together] {
			if out[i], err = s.answer(g.Source, q, s.scores[i], k); err != nil {
				return 0, err
			}
			if done != nil {
				done(len(q.Answers))
			}
		}
		questions, out = questions[together:], out[together:]
	}
	return sent, nil
}

// answer ranks one question's answers by all entities' scores, and keeps the k best.
func (s *seat) answer(source int32, q bundle.Question, scores []float32, k int) (Question, error) {
	answered := Question{Source: source, Relation: q.Relation, Asked: q.Numbers[0]}
	for j, answer := range q.Answers {
		if answer == bundle.None {
			continue
		}
		score := scores[answer]
		if math.IsNaN(float64(score)) {
			return answered, fmt.Errorf("scoring (%d, %d, ?): a score is not a number; the checkpoint's weights are not finite", source, q.Relation)
		}
		answered.Results = append(answered.Results, Result{
			Number: q.Numbers[j], Answer: answer, Score: score,
			Rank:     ranking.Filtered(scores, answer, q.Known),
			Distance: distance(s.distances[answer]),
		})
	}
	if k > 0 {
		s.top = ranking.Top(scores, k, s.top)
		for _, c := range s.top {
			_, known := slices.BinarySearch(q.Known, c.Entity)
			answered.Best = append(answered.Best, Candidate{c.Entity, c.Score, known, distance(s.distances[c.Entity])})
		}
	}
	return answered, nil
}

func distance(hops uint8) int32 {
	if hops == search.Unreached {
		return Unreached
	}
	return int32(hops)
}
