package steps

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"tagnet/formats/workspace/tables"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
)

// TrainingSet holds the training facts, and the graph whose edges are the answers to each query. Or it holds neither,
// and reads both from parts.
type TrainingSet struct {
	// Facts are in the order of the split's table, which decides the batches.
	Facts []graph.Fact
	// BaseRelations is the number of relations without their inverses.
	BaseRelations int32
	// Graph has the answers that the facts give to each query.
	Graph *graph.Graph

	parts   *parts.Folder
	keys    Keys // of the facts of the parts
	readers []*parts.Reader
}

// NewTrainingSet returns the training set of a knowledge graph. One without facts is an error.
func NewTrainingSet(ctx context.Context, k *kg.KG) (TrainingSet, error) {
	facts, err := k.Facts(ctx)
	if err != nil {
		return TrainingSet{}, err
	}
	s := TrainingSet{Facts: facts, BaseRelations: int32(len(k.Relations)), Graph: k.Train.Graph}
	if len(s.Facts) == 0 {
		return TrainingSet{}, errors.New("the training split has no queries: there is nothing to train on")
	}
	return s, nil
}

// ReadKeys returns the keys by which a configuration makes batches of a table's facts, which are counted by facts. It
// reads the table only where queries are grouped.
func ReadKeys(ctx context.Context, url string, facts int, c configuration.Configuration) (Keys, error) {
	k := NewKeys(c)
	if k.Tails == nil {
		return Keys{Facts: facts}, nil
	}
	err := tables.EachAnswered(ctx, url, func(head, relation, tail int32) error {
		k.Add(graph.Fact{Head: head, Relation: relation, Tail: tail})
		return nil
	})
	if err == nil && k.Facts != facts {
		err = fmt.Errorf("%s has %d facts, not %d", url, k.Facts, facts)
	}
	return k, err
}

// NewPartsSet returns the training set whose queries have parts of their own. Batches are made by k.
func NewPartsSet(folder *parts.Folder, k Keys) TrainingSet {
	s := TrainingSet{BaseRelations: int32(folder.Header.BaseRelations), parts: folder, keys: k}
	for range runtime.GOMAXPROCS(0) {
		s.readers = append(s.readers, folder.Reader())
	}
	return s
}

// Close closes the files of parts.
func (s TrainingSet) Close() error {
	if s.parts == nil {
		return nil
	}
	return s.parts.Close()
}

// Keys returns the keys of the facts, for the batches of a configuration.
func (s TrainingSet) Keys(c configuration.Configuration) Keys {
	if s.parts != nil {
		return s.keys
	}
	return KeysOf(s.Facts, c)
}

// Examples sets into to the examples of a batch and returns it. They are valid until the next call.
func (s TrainingSet) Examples(batch []Draw, seed uint64, epoch int, into []Example) ([]Example, error) {
	if s.parts != nil {
		return s.read(batch, seed, epoch, into)
	}
	into = into[:0]
	for len(batch) > 0 {
		draws := joined(batch)
		e := draws[0].Example(s.Facts, s.BaseRelations, seed, epoch)
		e.Known = s.Graph.Answers(e.Source, e.Relation)
		if len(draws) > 1 {
			s.join(&e, draws, seed, epoch)
		}
		into, batch = append(into, e), batch[len(draws):]
	}
	return into, nil
}

// read sets into to the examples of a batch, with the parts of the graph that they propagate through.
func (s TrainingSet) read(batch []Draw, seed uint64, epoch int, into []Example) ([]Example, error) {
	clear(into)
	into = append(into[:0], make([]Example, len(batch))...)
	errs := make([]error, len(batch))
	parallel.Workers(len(s.readers), len(batch), func(worker, i int) {
		part, err := s.readers[worker].Find(batch[i].Number())
		if err != nil {
			errs[i] = err
			return
		}
		q := part.Queries[0]
		into[i] = Example{
			Query: q.Query, Known: q.Known, Key: batch[i].key(seed, epoch), Part: &part.Subgraph,
		}
	})
	for _, err := range errs { // the first one of the batch, whichever came first
		if err != nil {
			return nil, fmt.Errorf("reading a batch: %w", err)
		}
	}
	return into, nil
}
