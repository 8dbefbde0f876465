// Package gpu trains and scores a model on a device: search, propagation within a window or in full, head, loss,
// backward pass, Adam, and filtered ranks are kernels (folder kernels) on a graph, parameters and optimizer state that
// stay in the device's memory. Queries, negatives and known answers go in, losses, ranks and best candidates come back.
//
// It computes what packages steps and inference compute on the CPU, which are its specification, in another order of
// float32 sums; dropout masks and negatives are the same. Two runs give the same bits, on any device: the queries that
// are computed together, by which sums are grouped, follow from the graph and the configuration alone. Supports tells
// which configurations it computes.
//
// Where messages are exactly equal and attain the maximum or minimum of PNA's or of the maximum's reduction, the
// gradient goes to the first of them. The CPU orders an entity's edges by sender, then relation, a device by relation,
// then sender. Both are subgradients, but different ones where such messages are of different relations.
package gpu
