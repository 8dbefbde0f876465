package evaluation

import (
	"bytes"
	"fmt"

	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/model/answer"
	"tagnet/model/calibration"
)

// Names are the names of the entities of the graph that is queried and of the base relations, by id.
type Names struct {
	Entity    func(id int32) string
	Relations []string
}

// EntitiesOf returns the entities that rankings and predictions of a bundle name.
func EntitiesOf(s *answer.Scored) (ids []int32) {
	for _, q := range s.Queries {
		ids = append(ids, q.Source)
		for _, r := range q.Results {
			ids = append(ids, r.Answer)
		}
		for _, c := range q.Best {
			ids = append(ids, c.Entity)
		}
	}
	return ids
}

// Rankings returns the rows of a part of rankings: the labeled answers of a bundle's queries.
func (n Names) Rankings(s *answer.Scored) []parquet.Ranking {
	count := 0
	for _, q := range s.Queries {
		count += len(q.Results)
	}
	rows := make([]parquet.Ranking, 0, count)
	for _, q := range s.Queries {
		direction, relation := Directed(n.Relations, q.Relation)
		for _, r := range q.Results {
			rows = append(rows, parquet.Ranking{
				Query: r.Row, Direction: direction,
				Source: n.Entity(q.Source), Relation: relation, Answer: n.Entity(r.Answer),
				Score:           r.Score,
				RankPessimistic: r.Rank.Pessimistic, RankMean: r.Rank.Mean(), RankOptimistic: r.Rank.Optimistic,
				Candidates: r.Rank.Candidates, Distance: r.Distance,
			})
		}
	}
	return rows
}

// Predictions returns the rows of a part of predictions: the best candidates of a bundle's queries. c, which may be nil,
// gives their probabilities.
func (n Names) Predictions(s *answer.Scored, c *calibration.Calibration) []parquet.Prediction {
	count := 0
	for _, q := range s.Queries {
		count += len(q.Best)
	}
	rows := make([]parquet.Prediction, 0, count)
	for _, q := range s.Queries {
		direction, relation := Directed(n.Relations, q.Relation)
		for i, candidate := range q.Best {
			row := parquet.Prediction{
				Query: q.Row, Direction: direction, Source: n.Entity(q.Source), Relation: relation,
				Position: int32(i + 1), Entity: n.Entity(candidate.Entity), Score: candidate.Score,
				Known: candidate.Known, Hops: candidate.Distance,
			}
			if c != nil {
				probability := c.Probability(q.Relation, candidate.Score)
				row.Probability = &probability
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// AnswersHeading is the first line of answers.tsv.
const AnswersHeading = "query\tsource\trelation\tposition\tanswer\tscore\tprobability\tknown\thops\n"

// Answers returns lines of answers.tsv: one for each prediction, inverse relations with a leading ~.
func Answers(predictions []parquet.Prediction) []byte {
	var text bytes.Buffer
	for _, p := range predictions {
		probability := ""
		if p.Probability != nil {
			probability = fmt.Sprintf("%.6g", *p.Probability)
		}
		fmt.Fprintf(&text, "%d\t%s\t%s\t%d\t%s\t%.6g\t%s\t%t\t%d\n",
			p.Query, names.Field(p.Source), names.Field(Queried(p.Direction, p.Relation)), p.Position, names.Field(p.Entity), p.Score, probability, p.Known, p.Hops)
	}
	return text.Bytes()
}
