// Package kernel computes the numeric inner loops of the model on plain arrays: aggregation of
// messages, matrix products, node updates, the partition of a window's edges, arithmetic on
// vectors, and the bit operations of searches from many sources. It knows neither graphs nor
// layers; packages window, propagation, inference, steps and relations call it.
//
// Each purpose has an interface of its own (Aggregator, Multiplier, NodeUpdater, WeightFolder,
// Partitioner, Vectors, BitSearch). A variant implements all of them as one value, a Kernel,
// which Named chooses by name: "portable" in plain Go, "avx2" and "avx512" with loops in
// assembly that ./generate writes. The portable variant defines what the others must compute;
// they call it for shapes that they do not support.
//
// # Data layout
//
// A table is a dense row-major array of float32, [rows, Dim]. Receivers name the entities to update; their senders are
// in compressed sparse form (Senders): receiver o's parents, siblings and children are three adjacent ranges of the
// same list, so hearing one more kind means reading further.
//
// An example with Dim 2: entities a, b and c, where b hears its parent a by relation 0, and c
// hears its parents a by relation 0 and b by relation 1. Rows 0, 1, 2 are a, b, c:
//
//	States             = [2 1 | -1 3 | 0 0]
//	RelationEmbeddings = [1 1 | 2 -1]
//	Senders.Offsets    = [0 0 0 | 0 1 1 | 1 3 3 | 3]   three entries a receiver, and the end
//	Senders.Rows       = [0 | 0 1]
//	Senders.Relations  = [0 | 0 1]
//
// Aggregating receiver c (Rows = [2], Kinds = 1) with DistMult reads Senders.Range(2, 1) =
// [1, 3): the messages a*r0 = [2 1] and b*r1 = [-2 -3]. Its set also holds the boundary, which is
// zero for every entity but the source. With PNA and MeanFactor 1/3 its features are
//
//	previous state  mean      max    min      standard deviation
//	[0 0]           [0 -2/3]  [2 1]  [-2 -3]  [1.63 1.70]
//
// The linear map multiplies these features by a matrix, and Normalize turns the product into
// c's next state.
package kernel
