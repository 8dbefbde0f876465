package report

import (
	"context"

	"tagnet/formats/parquet"
)

// readRankings reads where the answers of a split's queries came in.
func readRankings(ctx context.Context, url string) ([]ranked, error) {
	rows, err := parquet.Read[parquet.Ranking](ctx, url)
	if err != nil {
		return nil, err
	}
	ranks := make([]ranked, len(rows))
	for i, r := range rows {
		ranks[i] = ranked{query{r.Source, r.Relation, r.Direction}, r.Answer, r.RankPessimistic, r.RankOptimistic, r.Distance}
	}
	return ranks, nil
}

// readPredictions reads the best candidates of the queries that are wanted, in the order of
// the file.
func readPredictions(ctx context.Context, url string, wanted func(query) bool) ([]answered, error) {
	rows, err := parquet.Read[parquet.Prediction](ctx, url)
	if err != nil {
		return nil, err
	}
	var all []answered
	place := map[query]int{}
	for _, r := range rows {
		q := query{r.Source, r.Relation, r.Direction}
		if !wanted(q) {
			continue
		}
		at, seen := place[q]
		if !seen {
			at = len(all)
			place[q] = at
			all = append(all, answered{query: q})
		}
		all[at].candidates = append(all[at].candidates, candidate{r.Entity, r.Position, r.Probability, r.Known, r.Distance})
	}
	return all, nil
}
