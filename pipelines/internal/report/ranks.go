package report

import (
	"context"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/ranking"
	"tagnet/stages/predict"
)

// ranks summarizes the ranks of a split for the page. Its size does not grow with the number of queries.
type ranks struct {
	seed uint64
	// pessimistic and optimistic have the number of queries of each rank.
	pessimistic, optimistic map[int64]int64
	// The bootstraps are of pessimistic ranks. byRelation has the relations that newRanks was given.
	whole       *ranking.Bootstrap
	byDirection map[string]*ranking.Bootstrap
	byRelation  map[string]*ranking.Bootstrap
}

// newRanks returns the counts of no ranks. seed draws the bootstrap samples.
func newRanks(seed int64, relations []string) *ranks {
	r := &ranks{seed: uint64(seed), pessimistic: map[int64]int64{}, optimistic: map[int64]int64{},
		whole: new(ranking.Bootstrap), byDirection: map[string]*ranking.Bootstrap{}, byRelation: map[string]*ranking.Bootstrap{}}
	for _, name := range relations {
		r.byRelation[name] = new(ranking.Bootstrap)
	}
	return r
}

func (r *ranks) add(rows []parquet.Ranking) {
	var weights ranking.Weights
	for _, row := range rows {
		r.pessimistic[row.RankPessimistic]++
		r.optimistic[row.RankOptimistic]++
		weights.Draw(r.seed, row.Query)
		r.whole.Add(&weights, row.RankPessimistic)
		direction := r.byDirection[row.Direction]
		if direction == nil {
			direction = new(ranking.Bootstrap)
			r.byDirection[row.Direction] = direction
		}
		direction.Add(&weights, row.RankPessimistic)
		if relation := r.byRelation[row.Relation]; relation != nil {
			relation.Add(&weights, row.RankPessimistic)
		}
	}
}

// ofDirection returns the bootstrap of a direction, an empty one if no query has it.
func (r *ranks) ofDirection(direction string) *ranking.Bootstrap {
	if b := r.byDirection[direction]; b != nil {
		return b
	}
	return new(ranking.Bootstrap)
}

// readRanks reads the ranks of a split, with bootstraps of some relations. One part of the table is
// in memory at a time.
func (e *evidence) readRanks(ctx context.Context, split string, relations []string) (*ranks, error) {
	r := newRanks(e.seed, relations)
	err := parquet.EachPart(ctx, storage.Join(e.workspace.Evaluation(split), predict.RankingsTable), func(rows []parquet.Ranking) error {
		r.add(rows)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}
