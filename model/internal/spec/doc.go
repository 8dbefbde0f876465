// Package spec is the specification of the model, in float64 and plain loops. Tests of the fast packages compare their
// results with it. It optimizes nothing: it sends every message that a window admits, the empty ones included, and
// update vectors have all their 12 d entries. One file holds one idea:
//
//	search.go     distances from the source
//	window.go     the messages of a layer, by distance
//	priority.go   the messages of a layer, by priority (A*Net)
//	relation.go   relation embeddings of a query and of a layer
//	relationgraph.go  which relations meet, and the typed edges between them
//	between.go    relation embeddings from a propagation along these edges
//	message.go    message functions
//	aggregate.go  reduction of messages to one vector
//	update.go     node update: linear map, layer norm, ReLU, dropout
//	propagate.go  all layers, forward and backward
//	attention.go  final state as an attention over states (specific delta)
//	score.go      score function
//	loss.go       loss, and the rank of the answer
//	explain.go    how much each message carries of a score, and the best paths
//
// Each that is trained has its hand-written gradient beside it.
package spec
