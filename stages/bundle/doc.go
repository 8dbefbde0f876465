// Package bundle cuts the queries of a split into bundles, the unit of work of the model stages.
//
// The rows of a split's query table that ask for the same (source, relation, ?) are one Query, since
// one propagation answers them all. Queries are ordered by source, since one search serves all
// queries of a source, and cut into bundles of equal numbers of queries and bounded memory. A bundle
// carries ids, labelled answers and known answers, and never a copy of the graph. Between fused
// steps it is passed by pointer; a barrier encodes it as an Arrow record batch.
//
// The package stands between the graph that preprocess made and the stages learn and score. What a
// bundle holds depends on the queries and the parameters alone.
package bundle
