package learn

import (
	"context"
	"errors"

	"tagnet/formats/tables"
	"tagnet/model/graph"
	"tagnet/model/kg"
	"tagnet/model/optimizer"
)

// TrainingSet holds the training facts, and the answers that they give to each query.
type TrainingSet struct {
	// Facts are in the order of the split's table, which decides the batches.
	Facts         []graph.Fact
	baseRelations int32
	known         tables.Answers
}

// NewTrainingSet returns the training set of a knowledge graph. One without facts is an error.
func NewTrainingSet(ctx context.Context, k *kg.KG) (TrainingSet, error) {
	queries, err := k.Queries(ctx, "train")
	if err != nil {
		return TrainingSet{}, err
	}
	s := TrainingSet{Facts: kg.Facts(queries), baseRelations: int32(len(k.Relations))}
	if len(s.Facts) == 0 {
		return TrainingSet{}, errors.New("the training split has no queries: there is nothing to train on")
	}
	s.known, err = k.TrainAnswers(ctx)
	return s, err
}

// Examples sets into to the examples of a batch and returns it. They are valid until the next call.
func (s TrainingSet) Examples(batch []optimizer.Draw, seed uint64, epoch int, into []optimizer.Example) []optimizer.Example {
	into = into[:0]
	for _, draw := range batch {
		e := draw.Example(s.Facts, s.baseRelations, seed, epoch)
		e.Known = s.known.Of(e.Source, e.Relation)
		into = append(into, e)
	}
	return into
}
