package parquet

import (
	"fmt"

	"tagnet/formats/strict"
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
	if err := strict.First(strict.Count("query", r.Query), checkDirection(r.Direction), strict.Finite("score", float64(r.Score)),
		strict.Between("rank_pessimistic", r.RankPessimistic, 1, r.Candidates),
		strict.Between("rank_optimistic", r.RankOptimistic, 1, r.RankPessimistic), strict.Between("distance", r.Distance, -1, 1<<30)); err != nil {
		return err
	}
	if !(r.RankMean >= float64(r.RankOptimistic) && r.RankMean <= float64(r.RankPessimistic)) {
		return fmt.Errorf("rank_mean is %v, want %d to %d", r.RankMean, r.RankOptimistic, r.RankPessimistic)
	}
	return nil
}

// Check returns an error for an answer that no query has.
func (p Prediction) Check() error {
	return strict.First(strict.Count("query", p.Query), checkDirection(p.Direction), strict.Between("position", p.Position, 1, 1<<30),
		strict.Finite("score", float64(p.Score)), strict.Between("hops", p.Hops, -1, 1<<30))
}

// Check returns an error for an answer that no query has.
func (a Answer) Check() error {
	return strict.First(strict.Optional("probability", a.Probability, strict.Share), strict.Count("query", a.Query), checkDirection(a.Direction),
		strict.Between("position", a.Position, 1, 1<<30),
		strict.Finite("score", float64(a.Score)), strict.Between("rank", a.Rank, 1, 1<<40),
		strict.Finite("other_score", float64(a.OtherScore)), strict.Between("other_rank", a.OtherRank, 1, 1<<40), strict.Between("hops", a.Hops, -1, 1<<30))
}

// Check returns an error for numbers that no fact has.
func (f Fact) Check() error {
	return strict.First(strict.Optional("probability", f.Probability, strict.Share), strict.Between("position", f.Position, 1, 1<<40),
		strict.Finite("tail_score", float64(f.TailScore)), strict.Finite("head_score", float64(f.HeadScore)),
		strict.Between("tail_rank", f.TailRank, 1, 1<<40), strict.Between("head_rank", f.HeadRank, 1, 1<<40), strict.Between("hops", f.Hops, -1, 1<<30))
}

// Check returns an error for a path that no answer has.
func (e Explanation) Check() error {
	return strict.First(strict.Optional("weight", e.Weight, strict.Finite), strict.Count("query", e.Query), checkDirection(e.Direction),
		strict.Between("path", e.Path, 1, 1<<30), strict.Between("support", e.Support, 0, e.Cases))
}

// Check returns an error for scores that no triple has.
func (t Triple) Check() error {
	return strict.First(strict.Optional("log_odds", t.LogOdds, strict.Finite), strict.Optional("below_usual", t.BelowUsual, strict.Finite),
		strict.Optional("probability", t.Probability, strict.Share), strict.Count("query", t.Query), strict.Finite("tail_score", float64(t.TailScore)),
		strict.Finite("head_score", float64(t.HeadScore)),
		strict.Between("tail_rank", t.TailRank, 1, 1<<40),
		strict.Between("head_rank", t.HeadRank, 1, 1<<40), strict.Between("hops", t.Hops, -1, 1<<30))
}

// Check returns an error for numbers that no answer has.
func (m Match) Check() error {
	return strict.First(strict.Count("pattern", m.Pattern), strict.Between("position", m.Position, 1, 1<<30), strict.Share("probability", m.Probability),
		strict.Finite("log_odds", m.LogOdds))
}

// Check returns an error for numbers that no counting of messages gives.
func (c MessageCount) Check() error {
	return strict.First(strict.Count("queries", c.Queries), strict.Count("layers", c.Layers), strict.Count("layer", c.Layer), strict.Count("delta", c.Delta),
		strict.Count("edges", c.Edges),
		strict.Count("kept", c.Kept), strict.Count("kept_empty", c.KeptEmpty), strict.Count("pruned_empty", c.PrunedEmpty),
		strict.Count("pruned_redundant", c.PrunedRedundant), strict.Count("astar", c.AStar))
}
