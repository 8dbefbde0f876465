package parts

import (
	"context"
	"fmt"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// FormatVersion is the version of the folders that this package writes and reads.
const FormatVersion = 1

// Train is the split whose queries are trained on.
const Train = "train"

// Header describes the split, the reach and the graph that the parts of a folder were found for, with the numbers of
// the whole graph that models need.
type Header struct {
	FormatVersion int `json:"format_version"`
	// Split is the queries' split. They are numbered from 0. The two queries of fact f of the training split, in the
	// order of queries for tails, have the numbers 2f (asks for the tail) and 2f+1. Queries of other splits have the
	// numbers of their rows in the split's table.
	Split string `json:"split"`
	// Queries is the number of all queries of the split, of which the folder may have some.
	Queries int64 `json:"queries"`
	// Reach and Layers are the configuration's: the most entities and hops of a part. Remove is the configuration's
	// Remove for training queries, and configuration.RemoveNone for other splits.
	Reach  int    `json:"reach"`
	Layers int    `json:"layers"`
	Remove string `json:"remove"`
	// Entities and BaseRelations are the numbers of the whole graph.
	Entities      int `json:"entities"`
	BaseRelations int `json:"base_relations"`
	// MeanLogDegree equals graph.Graph's, to the bit: the logarithms are added in the order of the entities.
	MeanLogDegree float64 `json:"mean_log_degree"`
	// Degrees has each degree of the whole graph, ascending, with the number of entities that have it.
	Degrees [][2]int64 `json:"degrees"`
	// Vocabulary is the hash of the names that ids refer to, and Graph the checksum of the manifest of
	// the graph's folder.
	Vocabulary string `json:"vocabulary"`
	Graph      string `json:"graph"`
	// Drawn are the epochs whose queries the folder has; nil if it has all queries of the split.
	Drawn *Drawn `json:"drawn,omitempty"`
	// Limit is the number of the split's queries that the folder has, spread evenly over all by
	// workload.WithinLimit; 0 if it has all.
	Limit int64 `json:"limit,omitempty"`
	// Firsts has for each file the number of its first query.
	Firsts []int64 `json:"firsts"`
}

// Drawn selects the queries of the training split that epochs 1 to Epochs of a training draw.
type Drawn struct {
	Batching        string `json:"batching"`
	BatchSize       int    `json:"batch_size"`
	QueriesPerEpoch int    `json:"queries_per_epoch"`
	Epochs          int    `json:"epochs"`
	Seed            int64  `json:"seed"`
}

// Configuration returns the configuration by which steps.Schedule draws the queries.
func (d Drawn) Configuration() configuration.Configuration {
	return configuration.Configuration{Batching: d.Batching, BatchSize: d.BatchSize, QueriesPerEpoch: d.QueriesPerEpoch}
}

// Draws returns an error unless the folder has the queries that a training draws, with one answer each.
func (h Header) Draws(c configuration.Configuration, seed int64) error {
	if c.SeveralAnswers() {
		return remedy.Errorf(remedy.Do("set answers_per_query to 1"),
			"the parts are for queries of one answer, and a query of the training has up to %d", c.AnswersPerQuery)
	}
	d := h.Drawn
	if d == nil {
		return nil
	}
	want := Drawn{Batching: c.Batching, BatchSize: c.BatchSize, QueriesPerEpoch: c.QueriesPerEpoch, Epochs: d.Epochs, Seed: seed}
	if *d == want && c.Epochs <= d.Epochs {
		return nil
	}
	again, all := finding(Train, h.Reach, h.Layers), "all"
	if h.Remove != configuration.RemoveTriple {
		again = again.With(remedy.Flag("remove", h.Remove))
	}
	if want.Epochs = c.Epochs; want.QueriesPerEpoch > 0 {
		all = fmt.Sprintf("those of %v", want)
	}
	if want.QueriesPerEpoch > 0 && want.Batching == configuration.BatchingRandom { // bundle draws no other batches
		again = again.With(want.flags())
	}
	return remedy.Errorf(remedy.Do("run %v, or give train the flags of these parts", again.With(remedy.Flag("force"))),
		"the parts are for the queries of %v, and the training draws %s", *d, all)
}

// flags returns the flags with which bundle finds the parts of these queries alone.
func (d Drawn) flags() remedy.CommandLine {
	return remedy.Flag("queries_per_epoch", d.QueriesPerEpoch).With(remedy.Flag("epochs", d.Epochs), remedy.Flag("seed", d.Seed),
		remedy.Flag("batch_size", d.BatchSize))
}

// finding returns the command that finds parts.
func finding(split string, reach, layers int) remedy.CommandLine {
	return remedy.Command("bundle", remedy.Flag("split", split), remedy.Flag("reach", reach), remedy.Flag("layers", layers))
}

// String describes the drawn queries.
func (d Drawn) String() string {
	return fmt.Sprintf("%d epochs with queries_per_epoch %d, batching %s, batch_size %d and seed %d", d.Epochs, d.QueriesPerEpoch, d.Batching, d.BatchSize,
		d.Seed)
}

// headerFile is the name of the header in its folder.
const headerFile = "header.json"

// Name returns the name of the folder of parts of a split, of at most reach entities within layers hops.
func Name(split string, reach, layers int) string {
	return fmt.Sprintf("%s-k%d-t%d", split, reach, layers)
}

// File returns the name of a file of parts in its folder.
func File(i, files int) string { return fmt.Sprintf("parts-%05d-of-%05d.arrow", i, files) }

// HeaderFile returns the name of the header in its folder.
func HeaderFile() string { return headerFile }

// WriteHeader writes the header of a folder.
func WriteHeader(ctx context.Context, folder string, h Header) error {
	h.FormatVersion = FormatVersion
	if err := h.Check(); err != nil {
		return fmt.Errorf("writing %s: %w", storage.Join(folder, headerFile), err)
	}
	return storage.WriteJSON(ctx, storage.Join(folder, headerFile), h)
}

// Check returns an error for a header that is never written.
func (h Header) Check() error {
	if h.FormatVersion != FormatVersion {
		return remedy.Errorf(remedy.Run("bundle", remedy.Flag("force")), "it has format version %d, this program reads %d", h.FormatVersion, FormatVersion)
	}
	err := strict.First(strict.Between("queries", h.Queries, 1, 1<<40), strict.Between("reach", h.Reach, 1, max(1, h.Entities-1)),
		strict.Between("layers", h.Layers, 1, 1<<10), strict.Between("entities", h.Entities, 2, 1<<31-2),
		strict.Between("base_relations", h.BaseRelations, 1, 1<<29),
		strict.AtLeastZero("mean_log_degree", h.MeanLogDegree))
	if err != nil {
		return err
	}
	// Only training has removed edges and draws.
	if h.Remove != configuration.RemoveNone && (h.Split != Train || h.Remove != configuration.RemoveTriple && h.Remove != configuration.RemoveOneHop) {
		return fmt.Errorf("remove is %q, in parts for the split %s", h.Remove, h.Split)
	}
	if d := h.Drawn; d != nil {
		if h.Split != Train {
			return fmt.Errorf("drawn is given, in parts for the split %s", h.Split)
		}
		if err := strict.First(strict.Between("drawn.batch_size", d.BatchSize, 1, 1<<30), strict.Count("drawn.queries_per_epoch", d.QueriesPerEpoch),
			strict.Between("drawn.epochs", d.Epochs, 1, 1<<30)); err != nil {
			return err
		}
	}
	if h.Limit != 0 && (h.Split == Train || h.Limit < 0 || h.Limit >= h.Queries) {
		return fmt.Errorf("limit is %d, in parts for %d queries of the split %s", h.Limit, h.Queries, h.Split)
	}
	// Files follow each other.
	for i, first := range h.Firsts {
		if first < 0 || first >= h.Queries || i > 0 && first <= h.Firsts[i-1] {
			return fmt.Errorf("firsts[%d] is %d, of %d queries: they are ascending", i, first, h.Queries)
		}
	}
	if len(h.Firsts) == 0 {
		return fmt.Errorf("firsts is empty: there is no file of parts")
	}
	return h.checkDegrees()
}

// checkDegrees checks that degrees ascend, and that their counts add up to the entities.
func (h Header) checkDegrees() error {
	entities := int64(0)
	for i, d := range h.Degrees {
		if d[0] < 0 || d[0] > 1<<31-1 || d[1] < 1 || d[1] > int64(h.Entities) || i > 0 && d[0] <= h.Degrees[i-1][0] {
			return fmt.Errorf("degrees[%d] is degree %d of %d entities: degrees are ascending", i, d[0], d[1])
		}
		entities += d[1]
	}
	if entities != int64(h.Entities) {
		return fmt.Errorf("degrees count %d entities of %d", entities, h.Entities)
	}
	return nil
}

// Outline returns the graph without its edges.
func (h Header) Outline() *graph.Graph {
	edges := int64(0)
	for _, d := range h.Degrees {
		edges += d[0] * d[1]
	}
	return graph.Outline(h.Entities, h.BaseRelations, edges, h.MeanLogDegree, h.Degrees)
}

func (h Header) sizes() tables.PartSizes {
	return tables.PartSizes{Entities: h.Entities, BaseRelations: h.BaseRelations}
}

// HasRemovals reports whether the fact of a part's query leaves the graph.
func (h Header) HasRemovals() bool { return h.Split == Train && h.Remove != configuration.RemoveNone }
