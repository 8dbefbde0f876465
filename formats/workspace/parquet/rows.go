package parquet

import "tagnet/formats/strict"

// Ranking is the rank of the answer of one query: a row of the table rankings.
type Ranking struct {
	// Query is the position of the query in its split, inverse queries included.
	Query int64
	// Direction is "tail" if the query asks for the tail of its fact, "head" if for the head.
	Direction string
	// Source, Relation and Answer are names; the relation is the fact's, in both directions.
	Source, Relation, Answer string
	// Score is the logit of the answer.
	Score float32
	// The filtered ranks, from 1, with ties counted against the answer, halved, or for it.
	RankPessimistic int64
	RankMean        float64
	RankOptimistic  int64
	// Candidates is the number of entities ranked, the answer included.
	Candidates int64
	// Distance is the number of hops from source to answer, -1 if it is unreached.
	Distance int32
}

// Prediction is one of the best answers of a query of a split: a row of the table predictions.
type Prediction struct {
	// Query is the number of the query, from 0: the position of its first row in the split.
	Query int64
	// Direction, Source and Relation have the meaning that they have in Ranking.
	Direction, Source, Relation string
	// Position is the rank of the answer in the list, from 1.
	Position int32
	Entity   string
	// Score is the logit.
	Score float32
	// Known is true if the fact is in the graph or in another split.
	Known bool
	// Hops is the number of hops from source to entity, -1 if it is unreached.
	Hops int32
}

// Answer is one of the answers to a user's query, scored in the graph without its fact: a row of the table answers.
type Answer struct {
	// Query is the number of the query, from 0: the position of its first line in the user's file.
	Query int64
	// Direction, Source and Relation have the meaning that they have in Ranking.
	Direction, Source, Relation string
	// Position is the rank of the answer in the list, from 1.
	Position int32
	Entity   string
	// Score is the logit, Rank the filtered rank among all entities, from 1, with ties counted against the answer.
	Score float32
	Rank  int64
	// OtherScore and OtherRank belong to the query in the other direction, (entity, ~relation, ?), with the
	// source as its answer.
	OtherScore float32
	OtherRank  int64
	// Probability is that the fact is true, given that the graph does not state it; nil where none is fitted or too few
	// facts of the relation are known.
	Probability *float64
	// Known is true if the fact is known: in the graph, or in another split.
	Known bool
	// Hops is the number of hops from head to tail without the fact, -1 if the tail is unreached.
	Hops int32
}

// Explanation is a reason for an answer, or one of the best paths to it: a row of the table explanations.
type Explanation struct {
	// Query, Direction, Source, Relation and Entity have the values of the Answer that is explained. A Fact is
	// explained as an answer of the query for its tail; Query is the fact's Position.
	Query                               int64
	Direction, Source, Relation, Entity string
	// Path is the rank among the reasons and then the paths of the entity, from 1.
	Path int32
	// Rule names the relations of a reason's path, from the head of the fact to its tail, and holds in Support of
	// Cases. It is "" for a path that the model read, from the source to the entity, which has a Weight.
	Rule           string
	Support, Cases int64
	Weight         *float64
	// Text is the path on one line, Steps a JSON list of objects with the fields from, relation, inverse and to.
	Text, Steps string
}

// Fact is a new fact of a list: a row of the table facts.
type Fact struct {
	// Position is the rank of the fact in the list, from 1.
	Position             int64
	Head, Relation, Tail string
	// Probability is that the fact is true, nil where there is none: too few facts are known to fit it to.
	Probability *float64
	// TailScore and TailRank are the logit and the filtered rank, from 1, with ties counted against it, of the tail as
	// an answer of (head, relation, ?), HeadScore and HeadRank those of the head as one of (?, relation, tail).
	TailScore float32
	TailRank  int64
	HeadScore float32
	HeadRank  int64
	// Hops is the number of hops from head to tail, -1 if it is unreached.
	Hops int32
}

// Triple is a given triple with its scores in the graph without it: a row of the table triples.
type Triple struct {
	// Query is the position of its first line in the user's file, from 0.
	Query                int64
	Head, Relation, Tail string
	// Of the tail as an answer of (head, relation, ?): its logit, and its filtered rank, from 1, with ties
	// counted against it.
	TailScore float32
	TailRank  int64
	// The same of the head as an answer of (tail, ~relation, ?).
	HeadScore float32
	HeadRank  int64
	// Probability is that the triple is true, given that the graph does not state it; nil where none is fitted or too
	// few facts of the relation are known. LogOdds tell triples of equal probability apart, and are BelowUsual standard
	// deviations below those of the relation's facts; both are nil where no probabilities are fitted.
	Probability, LogOdds, BelowUsual *float64
	// Known is true if the fact is known: in the graph, or in another split.
	Known bool
	// Hops is the number of hops from head to tail without the triple itself, -1 if the tail is unreached.
	Hops int32
	// Against are the rules that speak against the triple, "" if there is none.
	Against string
}

// Match is an answer of a pattern: a row of the table matches.
type Match struct {
	// Pattern is the position of the pattern's line, from 0, Text the pattern.
	Pattern int64
	Text    string
	// Position is that among the answers of the pattern, from 1. Entity stands for the variable of the answer.
	Position int32
	Entity   string
	// Probability is the product of the probabilities of Facts, of which the text says each.
	Probability, LogOdds float64
	Facts                string
	// Cut says which variables have more entities than were followed, "" if none has.
	Cut string
}

// MessageCount counts the messages of one layer of the propagation from one source: a row of
// the table messages.
type MessageCount struct {
	Source string
	// Queries is the number of queries that share the source and therefore these counts. If edges
	// are removed from the graph of each query, as in training, the counts differ between queries;
	// then the row has their sum.
	Queries int64
	// Layers is the depth of the model, Layer the one counted, from 1.
	Layers, Layer, Delta int32
	// Edges counts the edges of a query's graph, along which NBFNet sends in a layer. It is the sum of the
	// next four: kept, kept although empty, pruned as empty, pruned as redundant.
	Edges, Kept, KeptEmpty, PrunedEmpty, PrunedRedundant int64
	// AStar is the number of messages that A*Net selects in the layer, 0 without a checkpoint.
	AStar int64
}

// Row is any of the rows that this package writes. Its fields are the columns, in their order; their names
// are written in snake case, and a pointer is a column that may be null.
type Row interface {
	Ranking | Prediction | Answer | Explanation | Fact | Triple | Match | MessageCount
	strict.Checked
	table() Table
}

// Table is a table that this package writes: its name, and the version of its columns.
type Table struct{ Name, Version string }

func (Ranking) table() Table      { return Table{"rankings", "1"} }
func (Prediction) table() Table   { return Table{"predictions", "3"} }
func (Answer) table() Table       { return Table{"answers", "1"} }
func (Explanation) table() Table  { return Table{"explanations", "2"} }
func (Fact) table() Table         { return Table{"facts", "2"} }
func (Triple) table() Table       { return Table{"triples", "3"} }
func (Match) table() Table        { return Table{"matches", "1"} }
func (MessageCount) table() Table { return Table{"messages", "1"} }

// Versions returns the versions of the columns of the tables of some rows, by the names of the tables.
func Versions(rows ...interface{ table() Table }) map[string]string {
	versions := map[string]string{}
	for _, row := range rows {
		versions[row.table().Name] = row.table().Version
	}
	return versions
}

// Tables lists the tables that this package writes, in the order of their names.
func Tables() []Table {
	return []Table{Answer{}.table(), Explanation{}.table(), Fact{}.table(), Match{}.table(), MessageCount{}.table(),
		Prediction{}.table(), Ranking{}.table(), Triple{}.table()}
}
