// Package optimizer makes training steps: it propagates the queries of a batch in parallel,
// takes their loss and gradients from the head, sums these in the order of the queries, and
// lets the solver move the weights. The same examples and seed end in the same bits, however
// many workers share the batch.
//
// It stands between the model's parts and the stage that feeds it bundles of queries.
package optimizer
