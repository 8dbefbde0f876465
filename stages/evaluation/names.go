package evaluation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"tagnet/formats/names"
	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/model/answer"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
)

// Names are the names of the entities of the graph that is queried and of the base relations, by id.
type Names struct {
	Entity    func(id int32) string
	Relations []string
}

// NamesOf returns the names of a graph that is queried.
func NamesOf(view *kg.View, relations []string) Names {
	return Names{Entity: func(id int32) string { return view.Entities[id] }, Relations: relations}
}

// EntitiesOf returns the entities that rankings and predictions of scored queries name.
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

// Rankings returns the rows of a part of rankings: the labeled answers of scored queries.
func (n Names) Rankings(s *answer.Scored) []parquet.Ranking {
	count := 0
	for _, q := range s.Queries {
		count += len(q.Results)
	}
	rows := make([]parquet.Ranking, 0, count)
	for _, q := range s.Queries {
		direction, relation := SplitRelation(n.Relations, q.Relation)
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

// Predictions returns the rows of a part of predictions: the best candidates of scored queries.
func (n Names) Predictions(s *answer.Scored) []parquet.Prediction {
	count := 0
	for _, q := range s.Queries {
		count += len(q.Best)
	}
	rows := make([]parquet.Prediction, 0, count)
	for _, q := range s.Queries {
		direction, relation := SplitRelation(n.Relations, q.Relation)
		for i, candidate := range q.Best {
			rows = append(rows, parquet.Prediction{
				Query: q.Row, Direction: direction, Source: n.Entity(q.Source), Relation: relation,
				Position: int32(i + 1), Entity: n.Entity(candidate.Entity), Score: candidate.Score,
				Known: candidate.Known, Hops: candidate.Distance, // the number that rankings call distance
			})
		}
	}
	return rows
}

// Explained is an answer to a query, and why it may be one.
type Explained struct {
	// Number is the row of the query, its first one if it has several, or the position of the fact in a list of facts.
	Number int64
	graph.Query
	answer.Why
}

// Explanations returns the rows of a part of explanations, with the names of the entities and base relations: those of
// each answer have its reasons first.
func Explanations(entities, relations []string, explained []Explained) (rows []parquet.Explanation, err error) {
	for _, e := range explained {
		direction, relation := SplitRelation(relations, e.Relation)
		number := int32(0)
		add := func(r parquet.Explanation, steps []model.Step) {
			number++
			r.Query, r.Direction, r.Source, r.Relation, r.Entity, r.Path = e.Number, direction, entities[e.Source], relation, entities[e.Answer], number
			text, failed := json.Marshal(steps)
			r.Steps, err = string(text), cmp.Or(err, failed)
			rows = append(rows, r)
		}
		for _, reason := range model.NamedReasons(entities, relations, e.Reasons) {
			add(parquet.Explanation{Rule: reason.Rule, Support: int64(reason.Support), Cases: int64(reason.Cases), Text: reason.Text()}, reason.Steps)
		}
		for _, path := range model.NamedPaths(entities, relations, e.Paths) {
			add(parquet.Explanation{Weight: &path.Weight, Text: path.Text()}, path.Steps)
		}
	}
	return rows, err
}

// ExplanationsHeading is the first line of explanations.tsv.
const ExplanationsHeading = "query\tsource\trelation\tentity\tpath\trule\tsupport\tcases\tweight\ttext\n"

// ExplanationLines returns lines of explanations.tsv: one for each reason or path, inverse relations with a leading ~.
func ExplanationLines(rows []parquet.Explanation) []byte {
	var text bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\t%d\t%s\t%d\t%d\t%s\t%s\n",
			r.Query, names.Field(r.Source), names.Field(QueryName(r.Direction, r.Relation)), names.Field(r.Entity), r.Path, names.Field(r.Rule), r.Support,
			r.Cases, optional(r.Weight), names.Field(r.Text))
	}
	return text.Bytes()
}
