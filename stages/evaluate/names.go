package evaluate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"tagnet/formats/parquet"
	"tagnet/model/ranking"
	"tagnet/stages/score"
)

// Names are the names of the entities of the graph that is queried and of the base relations, by id.
type Names struct{ Entities, Relations []string }

// Rankings returns the rows of rankings.parquet, in the order of the split's queries.
func (n Names) Rankings(all []*score.Scored) []parquet.Ranking {
	var rows []parquet.Ranking
	for _, s := range all {
		for _, q := range s.Queries {
			direction, relation := Directed(n.Relations, q.Relation)
			for _, r := range q.Results {
				rows = append(rows, parquet.Ranking{
					Query: r.Row, Direction: direction,
					Source: n.Entities[q.Source], Relation: relation, Answer: n.Entities[r.Answer],
					Score:           r.Score,
					RankPessimistic: r.Rank.Pessimistic, RankMean: r.Rank.Mean(), RankOptimistic: r.Rank.Optimistic,
					Candidates: r.Rank.Candidates, Distance: r.Distance,
				})
			}
		}
	}
	slices.SortFunc(rows, func(a, b parquet.Ranking) int { return cmp.Compare(a.Query, b.Query) })
	return rows
}

// Predictions returns the rows of predictions.parquet, in the order of the distinct queries.
func (n Names) Predictions(all []*score.Scored) []parquet.Prediction {
	var rows []parquet.Prediction
	for _, s := range all {
		for _, q := range s.Queries {
			direction, relation := Directed(n.Relations, q.Relation)
			for i, c := range q.Best {
				rows = append(rows, parquet.Prediction{
					Source: n.Entities[q.Source], Relation: relation, Direction: direction,
					Position: int32(i + 1), Entity: n.Entities[c.Entity],
					Probability: ranking.Probability(c.Score), Score: c.Score,
					Known: c.Known, Distance: c.Distance,
				})
			}
		}
	}
	return rows
}

// Answers returns the content of answers.tsv: a line for each answer, inverse relations with a leading
// ~.
func Answers(predictions []parquet.Prediction) []byte {
	var text bytes.Buffer
	text.WriteString("source\trelation\tposition\tanswer\tprobability\tknown\n")
	for _, p := range predictions {
		inverse := ""
		if p.Direction == Head {
			inverse = "~"
		}
		fmt.Fprintf(&text, "%s\t%s%s\t%d\t%s\t%.6g\t%t\n", p.Source, inverse, p.Relation, p.Position, p.Entity, p.Probability, p.Known)
	}
	return text.Bytes()
}
