package parquet

import (
	"fmt"

	"tagnet/formats/storage/check"
	"tagnet/formats/workspace/metrics"
)

// checkDirection accepts the directions of a query: its answer is the tail or the head of a fact.
func checkDirection(direction string) error {
	if direction != metrics.Tail && direction != metrics.Head {
		return fmt.Errorf("direction is %.20q, want tail or head", direction)
	}
	return nil
}

// Check returns an error for ranks that no query has.
func (r Ranking) Check() error {
	if err := check.First(check.Count("query", r.Query), checkDirection(r.Direction), check.Finite("score", float64(r.Score)), check.Between("rank_pessimistic", r.RankPessimistic, 1, r.Candidates),
		check.Between("rank_optimistic", r.RankOptimistic, 1, r.RankPessimistic), check.Between("distance", r.Distance, -1, 1<<30)); err != nil {
		return err
	}
	if !(r.RankMean >= float64(r.RankOptimistic) && r.RankMean <= float64(r.RankPessimistic)) {
		return fmt.Errorf("rank_mean is %v, want %d to %d", r.RankMean, r.RankOptimistic, r.RankPessimistic)
	}
	return nil
}

// Check returns an error for an answer that no query has.
func (p Prediction) Check() error {
	return check.First(check.Count("query", p.Query), checkDirection(p.Direction), check.Between("position", p.Position, 1, 1<<30), check.Finite("score", float64(p.Score)), check.Between("hops", p.Hops, -1, 1<<30))
}

// Check returns an error for an answer that no query has.
func (a Answer) Check() error {
	return check.First(checkProbability(a.Probability), check.Count("query", a.Query), checkDirection(a.Direction), check.Between("position", a.Position, 1, 1<<30),
		check.Finite("score", float64(a.Score)), check.Between("rank", a.Rank, 1, 1<<40),
		check.Finite("other_score", float64(a.OtherScore)), check.Between("other_rank", a.OtherRank, 1, 1<<40), check.Between("hops", a.Hops, -1, 1<<30))
}

// checkProbability accepts a share, or none.
func checkProbability(p *float64) error {
	if p == nil {
		return nil
	}
	return check.Share("probability", *p)
}

// Check returns an error for numbers that no fact has.
func (f Fact) Check() error {
	return check.First(checkProbability(f.Probability), check.Between("position", f.Position, 1, 1<<40), check.Finite("tail_score", float64(f.TailScore)), check.Finite("head_score", float64(f.HeadScore)),
		check.Between("tail_rank", f.TailRank, 1, 1<<40), check.Between("head_rank", f.HeadRank, 1, 1<<40), check.Between("hops", f.Hops, -1, 1<<30))
}

// Check returns an error for a path that no answer has.
func (e Explanation) Check() error {
	return check.First(check.Count("query", e.Query), checkDirection(e.Direction), check.Between("path", e.Path, 1, 1<<30), check.Finite("weight", e.Weight))
}

// Check returns an error for scores that no triple has.
func (t Triple) Check() error {
	if t.LogOdds != nil {
		if err := check.Finite("log_odds", *t.LogOdds); err != nil {
			return err
		}
	}
	return check.First(checkProbability(t.Probability), check.Count("query", t.Query), check.Finite("tail_score", float64(t.TailScore)), check.Finite("head_score", float64(t.HeadScore)),
		check.Between("tail_rank", t.TailRank, 1, 1<<40),
		check.Between("head_rank", t.HeadRank, 1, 1<<40), check.Between("hops", t.Hops, -1, 1<<30))
}

// Check returns an error for numbers that no counting of messages gives.
func (c MessageCount) Check() error {
	return check.First(check.Count("queries", c.Queries), check.Count("layers", c.Layers), check.Count("layer", c.Layer), check.Count("delta", c.Delta), check.Count("edges", c.Edges),
		check.Count("kept", c.Kept), check.Count("kept_empty", c.KeptEmpty), check.Count("pruned_empty", c.PrunedEmpty), check.Count("pruned_redundant", c.PrunedRedundant), check.Count("astar", c.AStar))
}
