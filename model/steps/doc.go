// Package steps makes training steps. A Trainer propagates the queries of a batch in parallel,
// takes their loss and gradients from the head, sums the gradients in the order of the queries, and
// lets Adam change the weights. A Sampler draws the negatives of a query.
//
// It does not know which source of relations a model has (package relations): a graph of relations is propagated
// forward and backward once for each base relation of a batch. Weights of such a model are trained by AdamW.
//
// The same examples and seed give the same bits, whatever the number of workers: every random draw
// derives from the seed and the example's own key, and sums have a fixed order.
//
// Several workers train one model in rounds: NextRound deals batches to them, and Average takes the mean
// of their weights and moments.
//
// Adam is torch.optim.Adam. Unlike Gorgonia's solvers it leaves gradients as they are, and a checkpoint can store its
// state.
package steps
