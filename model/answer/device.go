package answer

import (
	"context"
	"errors"
	"fmt"

	"tagnet/model/accelerator"
	"tagnet/model/gpu"
	"tagnet/model/ranking"
)

// deviceRanker is a Ranker on a device, for one goroutine at a time.
type deviceRanker struct {
	entities, relations int
	list                ranking.Selection
	top                 []ranking.Candidate // buffer of list
	scorer              accelerator.Scorer  // nil once closed
	together            int                 // queries that it is given at a time
}

// newDeviceRanker returns a ranker over a graph of that many entities and relations (2R) that keeps
// the selected candidates of each query, with a scorer of so many devices. Its Close closes the scorer.
func newDeviceRanker(entities, relations int, list ranking.Selection, scorer accelerator.Scorer, devices int) Ranker {
	list.K = min(list.K, entities)
	return &deviceRanker{entities: entities, relations: relations, list: list, scorer: scorer, together: groupSize * devices}
}

// groupSize is how many queries a device is given at a time: enough to keep a large one busy, few
// enough that an interrupt takes effect within seconds on a small one.
const groupSize = 512

func (r *deviceRanker) Rank(ctx context.Context, b *Bundle, done func(rows int)) (*Scored, error) {
	if err := b.Check(r.entities, r.relations); err != nil {
		return nil, err
	}
	if r.scorer == nil {
		return nil, errors.New("scoring: another scoring of this process has taken over the device: run again")
	}
	out := &Scored{}
	for rest := b.Queries; len(rest) > 0; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		group := rest[:min(r.together, len(rest))]
		rest = rest[len(group):]
		answered, err := r.score(ctx, group)
		if err != nil {
			return nil, err
		}
		for i, q := range group {
			out.Queries = append(out.Queries, results(q, answered[i]))
			out.Messages += answered[i].Messages
			if done != nil {
				done(len(q.Rows))
			}
		}
	}
	return out, nil
}

func (r *deviceRanker) Close() error {
	scorer := r.scorer
	r.scorer = nil
	if scorer == nil {
		return nil
	}
	return scorer.Close()
}

// score scores queries with their labelled answers. A device ranks among all entities; answers are ranked among a sample
// here, by the scores.
func (r *deviceRanker) score(ctx context.Context, queries []Query) ([]gpu.Answered, error) {
	list := make([]gpu.Query, len(queries))
	again := make([]gpu.Answered, len(queries)) // scores and ranks that replace those of the device
	for i, q := range queries {
		list[i] = gpu.Query{Source: q.Source, Relation: q.Relation, Known: q.Known, Removal: q.Removal}
		for _, answer := range q.Answers {
			if answer != None {
				list[i].Answers = append(list[i].Answers, answer)
			}
		}
		if q.Sample.Negatives > 0 || !r.list.Plain() {
			list[i].Choose = func(scores []float32) []ranking.Candidate {
				if q.Sample.Negatives > 0 {
					for _, answer := range list[i].Answers {
						again[i].Scores, again[i].Ranks = append(again[i].Scores, scores[answer]), append(again[i].Ranks, rankOf(q, answer, scores))
					}
				}
				r.top = r.list.Top(scores, q.Source, q.Known, r.top)
				return r.top
			}
		}
	}
	answered, err := r.scorer.Score(ctx, list, r.list.K)
	if errors.Is(err, ranking.ErrNotFinite) {
		return nil, err // it names the query
	}
	if err != nil {
		first, last := queries[0], queries[len(queries)-1]
		return nil, fmt.Errorf("scoring (%d, %d, ?) to (%d, %d, ?): %w", first.Source, first.Relation, last.Source, last.Relation, err)
	}
	for i, a := range again {
		if a.Ranks != nil {
			answered[i].Scores, answered[i].Ranks = a.Scores, a.Ranks
		}
	}
	return answered, nil
}

// results adds rows and known answers to the results of a query.
func results(q Query, a gpu.Answered) Ranked {
	out := Ranked{Source: q.Source, Relation: q.Relation, Row: q.Rows[0]}
	for i, answer := range q.Answers {
		if answer == None {
			continue
		}
		n := len(out.Results)
		out.Results = append(out.Results, Result{
			Row: q.Rows[i], Answer: answer, Score: a.Scores[n], Rank: a.Ranks[n], Distance: a.Distances[n],
		})
	}
	for _, c := range a.Best {
		out.Best = append(out.Best, Candidate{c.Entity, c.Score, isKnown(q, c.Entity), c.Distance})
	}
	return out
}
