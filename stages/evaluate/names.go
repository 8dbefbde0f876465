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

// Names put names to ids: of the entities of the graph that was asked, and of the base
// relations.
type Names struct{ Entities, Relations []string }

// Rankings are the rows of rankings.parquet, in the order of the split's queries.
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

// Predictions are the rows of predictions.parquet, in the order of the questions.
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

// Answers is the content of answers.tsv: a line per answer, with the relation written as it is
// asked for, reciprocals with a leading ~.
func Answers(predictions []parquet.Prediction) []byte {
	var text bytes.Buffer
	text.WriteString("source\trelation\tposition\tanswer\tprobability\tknown\n")
	for _, p := range predictions {
		reciprocal := ""
		if p.Direction == Head {
			reciprocal = "~"
		}
		fmt.Fprintf(&text, "%s\t%s%s\t%d\t%s\t%.6g\t%t\n", p.Source, reciprocal, p.Relation, p.Position, p.Entity, p.Probability, p.Known)
	}
	return text.Bytes()
}
