package learn

import (
	"tagnet/model/budget"
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/optimizer"
	"tagnet/stages/score"
)

// Memory bounds the bytes of a training beside its graph and its deck:
//
//	weights      12 a parameter with the solver's state, and 8 while a checkpoint is written
//	gradients    of each query of a batch, and the rest of what model/optimizer shares
//	order        24 a fact: an epoch's batches
//
// and for each thread its worker of model/optimizer. Validation takes the place of a batch and of
// the workers, where it is no larger.
func Memory(g *graph.Graph, c configuration.Configuration, replicas, facts int) (fixed []budget.Part, thread int64) {
	shared, worker := optimizer.Memory(g, c, replicas)
	validation, scorer := score.Memory(g, c, 0)
	return []budget.Part{
		{Name: "weights and solver", Bytes: 20 * optimizer.Parameters(g, c)},
		{Name: "a batch", Bytes: max(shared, validation) + 24*int64(facts)},
	}, max(worker, scorer)
}

// DeckMemory bounds the bytes of a training's bundles once they are read: their files, those of
// validation twice (whose known answers, of any number, are there again beside the rows), 160 a
// query and 40 a fact.
func DeckMemory(train, valid int64, queries, facts int) int64 {
	return train + 2*valid + 160*int64(queries) + 40*int64(facts)
}
