package budget

import (
	"slices"

	"tagnet/model/weights/configuration"
)

// Sizes are what an estimate is computed from.
type Sizes struct {
	// Entities, Edges and Relations are those of the graph on which a split is queried, with
	// inverse edges and relations.
	Entities, Edges, Relations int64
	// RelationEdges is the number of edges between relations, where the model takes those from their graph.
	RelationEdges int64
	// Outlined is set if the graph is not held: queries are read with the parts of it that they propagate through.
	Outlined bool
	// OnDevice is set if the model is computed on a device, whatever happens: the processor does not take over.
	OnDevice bool
	// LoadedEntities and LoadedEdges include those of the other graph, in the inductive setting.
	LoadedEntities, LoadedEdges int64
	// NameBytes is the length of all names. EdgeFiles is how many files the edges are in.
	NameBytes, EdgeFiles int64
	// Queries is the number of queries, Distinct of the distinct pairs (source, relation) among them,
	// and Sources of distinct sources.
	Queries, Distinct, Sources int64
	// Answers is the number of known answers, AnswerLists that of the pairs that they belong to.
	Answers, AnswerLists int64
}

// PartsAtOnce is the most queries of a shard whose parts of the graph are in memory.
const PartsAtOnce = 64

// Shards is how many shards whose tables a process makes are in memory: one is computed while another is written.
const Shards = 2

// Score estimates scoring with the topK best candidates of each query, by shards whose tables have at most shardRows
// rows.
func Score(s Sizes, c configuration.Configuration, topK, shardRows int) Estimate {
	const perRow = 280 // a result, its row, and its columns before and after they are compressed
	topK = int(min(int64(topK), s.Entities))
	shared, thread := ranking(s, c, topK)
	return Estimate{
		Task: "scoring this graph",
		Rows: []Row{
			{s.held(), s.graph() + Shards*PartsAtOnce*part(s, c)},
			{"queries", s.queries() + s.answers()},
			{"parameters", 8*parameterCount(s, c) + weights(s, c) + shared},
			{"rankings", Shards * perRow * min(s.Queries*int64(1+topK), int64(shardRows+topK))},
		},
		Thread: thread,
	}
}

// Comparing returns the estimate of a scoring of a split, which ranks its answers by baselines too, from that of the scoring.
func (e Estimate) Comparing(s Sizes) Estimate {
	const perEdge = 12 // an entity and how many edges enter it, in a slice that has grown
	if !s.Outlined {
		e.Rows = append(slices.Clone(e.Rows), Row{"baselines", perEdge * s.Edges})
	}
	return e
}

// Explaining returns the estimate of a scoring that explains answers with so many paths each, of all answers and of those of a shard, from
// that of the scoring.
func (e Estimate) Explaining(s Sizes, c configuration.Configuration, paths int, all, shard int64) Estimate {
	const perRow = 3 << 10 // a row with its text and steps, and its columns before and after they are compressed
	e.Task += " and explaining"
	e.Rows = append(slices.Clone(e.Rows),
		Row{"maps to explain", folded(s, c) + int64(c.Layers)*maps(c)},
		Row{"explanations", perRow * int64(paths) * min(all, Shards*shard)})
	e.Thread += explainer(s, c, paths)
	return e
}

// Ask estimates answering a user's queries, of which each has so many candidates that are queried in the other direction, too, with lists of so many
// entities. made is set if queries are made where they are answered: then those of the shards in memory are held.
func Ask(s Sizes, c configuration.Configuration, candidates, shardRows int, listed int64, made bool) Estimate {
	const (
		perEntity    = 16  // of a list: where it is read, and where its query is scored
		perCandidate = 600 // listed, as a fact, as a query in the other direction with its result, and with its estimate
	)
	candidates = int(max(1, min(int64(candidates), s.Entities)))
	inShards := min(s.Queries, Shards*(1+int64(shardRows/candidates)))
	if made {
		s.Queries = inShards
	}
	e := Score(s, c, candidates, shardRows)
	e.Rows = append(e.Rows,
		Row{"lists", perEntity * listed},
		Row{"candidates", perCandidate * int64(candidates) * inShards},
		Row{"surroundings", surroundings(s)})
	return e
}

// surroundings bounds the bytes of the relations around the entities of a graph: around each, by relation, and in pairs that leave one entity.
func surroundings(s Sizes) int64 {
	const perEdge, perPair, pairsPerEdge = 24, 16, 64
	return perEdge*s.Edges + perPair*min(s.Relations*s.Relations, pairsPerEdge*s.Edges)
}

// Discover estimates a list of at most so many new facts, of queries with lists of so many entities: what Ask estimates, and what merges their
// answers.
func Discover(s Sizes, c configuration.Configuration, topK, shardRows int, listed, most int64) Estimate {
	const (
		perWanted = 160       // answer: with its result, as a fact and as a record; a query may be wanted of all entities
		merge     = 256 << 16 // buffers of files
		perEntry  = 160       // of the best of a range, while their number grows
		perFact   = 600       // of a part of the list: by name, as columns
		mostFacts = 1 << 17   // of a part
	)
	e := Ask(s, c, topK, shardRows, listed, true)
	e.Task = "listing new facts of this graph"
	e.Rows = append(e.Rows,
		Row{"merged files", Shards * (perWanted*s.Entities + merge)},
		Row{"list", perEntry*most + perFact*min(most, mostFacts)})
	return e
}

// Fit estimates a fit of probabilities to so many observations among the k best candidates of queries, by shards with at most shardRows of them. The
// sizes are those of the graph of all facts.
func Fit(s Sizes, c configuration.Configuration, k, shardRows int, observations int64) Estimate {
	const perElement = 44 * runnerCopies
	s.Queries = 2 * observations
	e := Score(s, c, k, shardRows)
	e.Task = "fitting probabilities on this graph"
	e.Rows = append(e.Rows,
		Row{"surroundings", surroundings(s) + perDrawn*s.Edges},
		Row{"observations", (perElement + perObservation) * observations})
	return e
}

const (
	perObservation = 2*48 + 200 // decoded and sorted, and an example of the regression
	perDrawn       = 24         // the facts that the sample is drawn from, for an edge
)

// Train estimates a training. Queries are those of validation; there are as many training queries as
// edges.
func Train(s Sizes, c configuration.Configuration) Estimate {
	copies := int64(5) // of the parameters: gradients, moments, a file
	if c.WeightAverage > 0 {
		copies += 3 // the average, the next one, and in the file
	}
	shared, thread := ranking(s, c, 0) // validation, which releases the trainer
	e := Estimate{
		Task: "training on this graph",
		Rows: []Row{
			{s.held(), s.graph() + max(PartsAtOnce, int64(c.BatchSize))*part(s, c)},
			{"queries", s.facts(c) + s.queries() + 2*s.answers()}, // answers of training alone, and of all splits
			{"parameters", 4*copies*parameterCount(s, c) + weights(s, c)},
		},
	}
	if s.OnDevice {
		batched, trained := trainingOnDevice(s, c)
		e.Rows, e.Thread = append(e.Rows, Row{"batch", max(batched, shared)}), max(trained, thread)
		return e
	}
	batched, trained := trainingBetween(s, c)
	e.Rows = append(e.Rows, Row{"batch", batch(s, c) + batched + shared})
	e.Thread = max(trainer(s, c)+trained, thread)
	return e
}

// Together returns the estimate of so many trainers in one process, each on a device, from that of one. They share the graph and the
// training facts.
func (e Estimate) Together(s Sizes, trainers int64) Estimate {
	e.Rows = slices.Clone(e.Rows)
	for i, r := range e.Rows {
		switch r.Name {
		case "queries":
			e.Rows[i].Bytes += 24 * s.Edges * (trainers - 1) // the order of the facts in an epoch
		case "parameters", "batch":
			e.Rows[i].Bytes *= trainers
		}
	}
	e.Thread *= trainers
	return e
}

// Averaging returns the estimate of a training by several workers, of which a process averages the results while it keeps a
// trainer, from that of a training.
func (e Estimate) Averaging(s Sizes, c configuration.Configuration) Estimate {
	tensors := int64(3) // for each parameter: it and two moments
	if c.WeightAverage > 0 {
		tensors++
	}
	e.Rows = append(e.Rows, Row{"averaging", 20 * tensors * parameterCount(s, c)}) // sums; a result and its file; the average and its file
	return e
}

// Search estimates a search for distances by a worker that holds the graph, whose threads search
// from so many words of 64 sources at once.
func Search(s Sizes, words int) Estimate {
	const packedRow = 32 // half a byte an entity for each of 64 sources, until they are written in order
	neighbors := int64(0)
	if s.Edges <= MaxNeighbors {
		neighbors = 8*s.Entities + 4*s.Edges
	}
	return Estimate{
		Task: "searching in a worker that holds the graph",
		Rows: []Row{
			{"graph", s.graph()},
			{"neighbors", neighbors},
			{"queries", 32*s.Queries + 12*s.Sources}, // read by the pipeline and by the worker
			{"table", tableBatch(s)},
		},
		Thread: Searcher(s.Entities, words, true, false) + packedRow*int64(words)*s.Entities + s.Entities,
	}
}

// MaxNeighbors is the most edges of a graph of which a search keeps a copy without repeated
// neighbors (256 MiB).
const MaxNeighbors = 64 << 20

// Counting is what a count of messages does beside a search.
type Counting struct {
	// Rows is how many rows of the counts a source has, ShardSources how many sources a shard has.
	Rows, ShardSources int64
	// Removes reports whether edges are removed for each query.
	Removes bool
	// Reach is configuration.Configuration.Reach: each query has a part of the graph.
	Reach int
	// Model, if not nil, is an A*Net whose choices are counted.
	Model *configuration.Configuration
}

// Count estimates a count of messages, whose threads search from so many words of 64 sources at
// once.
func Count(s Sizes, c Counting, words int) Estimate {
	const (
		perSource = 2 * 280 // levels of a source, in a growing list
		perRow    = 280     // a row, and its columns before and after they are compressed
		perChoice = 2*64 + perRow
		skew      = 8 // how many times the mean number of queries the sources of a shard have
	)
	sources := min(s.Sources, c.ShardSources)
	e := Estimate{
		Task: "counting messages on this graph",
		Rows: []Row{
			{"graph", s.graph() + s.queries()},
			{"counts", 8*s.Sources + Shards*(perSource+perRow*c.Rows)*sources},
		},
		Thread: Searcher(s.Entities, words, c.Removes, true) + s.Entities,
	}
	if c.Removes {
		e.Thread += 24 * s.Entities // corrections of the levels
	}
	if c.Reach > 0 {
		part, searched := within(s, configuration.Configuration{Reach: c.Reach})
		if searched == 0 { // parts of all entities are found, too
			part, searched = within(s, configuration.Configuration{Reach: int(s.Entities) - 1})
		}
		e.Thread = searched + 16*part.Entities
	}
	if m := c.Model; m != nil {
		e.Rows = append(e.Rows,
			Row{"parameters", 8*parameterCount(s, *m) + folded(s, *m)},
			Row{"choices", Shards * perChoice * int64(m.Layers) * min(s.Distinct, skew*(s.Distinct/max(1, s.Sources)+1)*sources)})
		e.Thread += propagator(s, *m, false) + 9*s.Entities
	}
	return e
}

// Preprocess estimates preprocessing a dataset of so many distinct names.
func Preprocess(names int64) Estimate {
	return Estimate{
		Task:   "preprocessing",
		Rows:   []Row{{"ids of names", 20 * names}}, // a hash table of 16 bytes a slot, four fifths full
		Thread: 48 * MiB,                            // buffers of the text and of spill files, and a batch of a table
	}
}

// SearchBytes guesses what the search of a part and the pieces of that part take as elements of a pipeline. Most parts take less.
func SearchBytes(s Sizes, c configuration.Configuration) int64 {
	const (
		perEntity = 80 // lists that arrive, a byte or two for each of their senders
		perEdge   = 3  // sender and relation
	)
	part, _ := within(s, c)
	return perEntity*part.Entities + perEdge*part.Edges
}

// Parts estimates finding the parts of so many of a split's queries by rounds, so many in a file. inRunner is the bytes of elements that
// Beam's local runner holds at a time, or 0.
func Parts(s Sizes, c configuration.Configuration, queries, inRunner, perFile int64) Estimate {
	const (
		perQuery = 64 // with its number, cut into files, and encoded
		perDraw  = 4  // of all, where some are drawn: a mark, and the order of the facts
		perKey   = 8  // what facts are grouped by
		perEdge  = 20 // of a block; arrays grow by a quarter, and a batch is read
	)
	bytes := perQuery * queries
	if c.QueriesPerEpoch > 0 {
		bytes += perDraw * s.Queries
	}
	if c.QueriesPerEpoch > 0 && c.Batching != configuration.BatchingRandom {
		bytes += perKey * s.Queries
	}
	part, searched := within(s, c)
	files := max(1, s.EdgeFiles)
	block := perEdge*s.Edges/files + 8*s.Entities/files + 8*part.Edges
	file := perFile*SearchBytes(s, c) + 16*part.Edges
	return Estimate{
		Task:   "finding parts of the graph",
		Rows:   []Row{{"queries", bytes}, {"searches", runnerCopies * inRunner}},
		Thread: max(block, file, searched) + 16*MiB,
	}
}

// runnerCopies is how many copies of an element Beam's local runner holds: as it is sent, joined,
// kept and handed on.
const runnerCopies = 6

// tableBatch bounds the bytes of the batch of rows that a table of distances is written in, and of
// its compressed copy.
func tableBatch(s Sizes) int64 { return max(4*MiB, 2*s.Entities) }

// held names what is held of the graph.
func (s Sizes) held() string {
	if s.Outlined {
		return "parts of the graph"
	}
	return "graph"
}

// graph bounds the bytes of the loaded graphs with names.
func (s Sizes) graph() int64 {
	if s.Outlined {
		return MiB + 64*s.Relations
	}
	return MiB + 8*s.LoadedEntities + 8*s.LoadedEdges + 16*(s.LoadedEntities+s.Relations) + s.NameBytes +
		12*s.LoadedEdges/max(1, s.EdgeFiles)
}

// queries bounds the bytes of queries: 16 each as they are read, and 72 as they are grouped by
// source, twice while shards are cut.
func (s Sizes) queries() int64 {
	if s.Outlined {
		return 24 * s.Distinct // the first row of each, in an array that grows
	}
	return 160 * s.Queries
}

// facts bounds the bytes of training facts, of which there is one for two edges, and of their order. Of those that are not held there are
// the keys that group them.
func (s Sizes) facts(c configuration.Configuration) int64 {
	switch {
	case !s.Outlined:
		return 48 * s.Edges
	case c.Batching == configuration.BatchingRandom:
		return 8 * s.Edges
	}
	return 28 * s.Edges
}

// answers bounds the bytes of the known answers.
func (s Sizes) answers() int64 {
	if s.Outlined {
		return 0 // read with the queries
	}
	return 4*s.Answers + 32*s.AnswerLists
}
