package optimizer

import (
	"context"
	"errors"

	"tagnet/formats/tables"
	"tagnet/model/graph"
	"tagnet/model/kg"
)

// TrainingSet holds the training facts, and the answers that they give to each query.
type TrainingSet struct {
	// Facts are in the order of the split's table, which decides the batches.
	Facts []graph.Fact
	// BaseRelations is the number of relations without their inverses.
	BaseRelations int32
	// Known has the answers that the facts give to each query.
	Known tables.Answers
}

// NewTrainingSet returns the training set of a knowledge graph. One without facts is an error.
func NewTrainingSet(ctx context.Context, k *kg.KG) (TrainingSet, error) {
	queries, err := k.Queries(ctx, "train")
	if err != nil {
		return TrainingSet{}, err
	}
	s := TrainingSet{Facts: kg.Facts(queries), BaseRelations: int32(len(k.Relations))}
	if len(s.Facts) == 0 {
		return TrainingSet{}, errors.New("the training split has no queries: there is nothing to train on")
	}
	s.Known, err = k.TrainAnswers(ctx)
	return s, err
}

// Examples sets into to the examples of a batch and returns it. They are valid until the next call.
func (s TrainingSet) Examples(batch []Draw, seed uint64, epoch int, into []Example) []Example {
	into = into[:0]
	for _, draw := range batch {
		e := draw.Example(s.Facts, s.BaseRelations, seed, epoch)
		e.Known = s.Known.Of(e.Source, e.Relation)
		into = append(into, e)
	}
	return into
}
