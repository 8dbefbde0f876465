package parquet

// Ranking is where one query's answer came in: a row of rankings.parquet.
type Ranking struct {
	// Query is the position of the query in its split, inverse queries included.
	Query int64
	// Direction is "tail" where the query asks for a fact's tail, "head" for its head.
	Direction string
	// Source, Relation and Answer are names; the relation is the fact's, in both directions.
	Source, Relation, Answer string
	// Score is the logit of the answer.
	Score float32
	// The filtered rank, from 1, with ties counted against the answer, halved, or for it.
	RankPessimistic int64
	RankMean        float64
	RankOptimistic  int64
	// Candidates is the number of entities ranked, the answer included.
	Candidates int64
	// Distance is the number of hops from source to answer, -1 where it is unreached.
	Distance int32
}

// Prediction is one of the best candidates of a query: a row of predictions.parquet.
type Prediction struct {
	Source, Relation, Direction string
	// Position is the candidate's place in the list, from 1.
	Position int32
	Entity   string
	// Probability is the logistic function of Score, the logit.
	Probability float64
	Score       float32
	// Known tells that the graph, or another split, holds the fact already.
	Known bool
	// Distance is the number of hops from source to entity, -1 where it is unreached.
	Distance int32
}

// MessageCount is what one layer of one source's propagation sends: a row of
// messages.parquet.
type MessageCount struct {
	Source string
	// Queries is the number of queries that share the source, and so these counts. Only where
	// something is removed from the graph of each, as while training, the counts differ from query
	// to query; the row then has their sum.
	Queries int64
	// Layers is the depth of the model, Layer the one counted, from 1.
	Layers, Layer, Delta int32
	// Edges are those of a query's graph: what NBFNet sends in a layer. The four others
	// part them: kept, kept though empty, pruned as empty, pruned as redundant.
	Edges, Kept, KeptEmpty, PrunedEmpty, PrunedRedundant int64
	// AStar is the number of messages that A*Net selects in the layer, 0 without a checkpoint.
	AStar int64
}

// Share is a part of a whole that the analysis of a data set counts: a row of
// analysis.parquet. The parts of one whole do not overlap; their shares add up to 1.
type Share struct {
	// Graph is "training" or "inference". Split is the split of the queries, "" where
	// the graph itself is counted.
	Graph, Split string
	// What is counted: "degree" counts entities, "distance" queries, "message" messages.
	What string
	// Part names the part. Of degrees: "0", "1", "2-3", "4-7" and so on, in edges of both
	// directions. Of distances: "0", "1" and so on, and "unreached". Of messages: "sent",
	// "kept_empty", "pruned_empty", "pruned_redundant".
	Part string
	// Layers, Layer and Delta say which messages, Layer 0 those of all layers; -1 elsewhere.
	Layers, Layer, Delta int32
	// Count is the size of the part, Share its fraction of the whole.
	Count int64
	Share float64
}

// Row is any of the rows that this package writes. Its fields are the columns, in their order; their names
// are written in snake case.
type Row interface {
	Ranking | Prediction | MessageCount | Share
	// table returns the name of the table.
	table() string
}

func (Ranking) table() string      { return "rankings" }
func (Prediction) table() string   { return "predictions" }
func (MessageCount) table() string { return "messages" }
func (Share) table() string        { return "shares" }
