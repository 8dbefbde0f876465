// Package answer ranks: bundles of queries and a model's parameters in; scores, filtered ranks and the best candidates out,
// on the processor or a device. One propagation answers all rows of a (source, relation, ?), and threads share the queries
// of a bundle, or a device answers them in groups.
//
// A bundle has ids, labelled answers and known answers, but no graph. Results are ids in the order of the bundle. Pipelines
// evaluate with this package, and training validates its epochs with it.
package answer
