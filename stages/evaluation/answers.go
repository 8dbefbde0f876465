package evaluation

import (
	"bytes"
	"fmt"

	"tagnet/formats/names"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// Answers returns the rows of a part of answers: those to each of some queries.
func (n Names) Answers(queries []answer.Request, answers []answer.Answers) []parquet.Answer {
	count := 0
	for _, a := range answers {
		count += len(a.List)
	}
	rows := make([]parquet.Answer, 0, count)
	for i, q := range queries {
		direction, relation := SplitRelation(n.Relations, q.Relation)
		for j := range answers[i].List {
			a := &answers[i].List[j]
			asked, other := a.Sides(q.Relation)
			rows = append(rows, parquet.Answer{
				Query: q.Rows[0], Direction: direction, Source: n.Entity(q.Source), Relation: relation,
				Position: int32(j + 1), Entity: n.Entity(a.Entity(q.Relation)), Score: asked.Score, Rank: asked.Rank, OtherScore: other.Score,
				OtherRank:   other.Rank,
				Probability: claimed(a.Estimate), Known: a.Known, Hops: a.Hops,
			})
		}
	}
	return rows
}

// claimed returns the probability of an estimate, or nil without one.
func claimed(e probability.Estimate) *float64 {
	if !e.HasProbability {
		return nil
	}
	return &e.Probability
}

// Explain returns what is to be explained of the answers to queries: a fact of the graph in the graph without it.
func Explain(g *graph.Graph, queries []answer.Request, answers []answer.Answers) (explained []Explained) {
	for i, q := range queries {
		for j := range answers[i].List {
			asked := graph.Query{Source: q.Source, Relation: q.Relation, Answer: answers[i].List[j].Entity(q.Relation)}
			asked.Removal = g.RemovalOf(asked)
			explained = append(explained, Explained{Number: q.Rows[0], Query: asked})
		}
	}
	return explained
}

// AnswersHeading is the first line of answers.tsv.
const AnswersHeading = "query\tsource\trelation\tposition\tentity\tscore\trank\tother_score\tother_rank\tprobability\tknown\thops\n"

// AnswerLines returns lines of answers.tsv: one for each answer, inverse relations with a leading ~.
func AnswerLines(rows []parquet.Answer) []byte {
	var text bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%d\t%s\t%.6g\t%d\t%.6g\t%d\t%s\t%t\t%d\n",
			r.Query, names.Field(r.Source), names.Field(QueryName(r.Direction, r.Relation)), r.Position, names.Field(r.Entity),
			r.Score, r.Rank, r.OtherScore, r.OtherRank, optional(r.Probability), r.Known, r.Hops)
	}
	return text.Bytes()
}
