// Package bundle cuts the queries of a split into bundles, the unit of work of the model stages.
//
// All rows of a split's query table with the same source and relation become one Query, since one
// propagation answers them. Queries are sorted by source, since one search serves all queries of a
// source, and cut into bundles of equal numbers of queries and bounded memory. A bundle holds ids,
// labelled answers and known answers, but no graph. Between fused steps it is passed by pointer; at a
// barrier it is encoded as an Arrow record batch.
//
// It reads the graph that preprocess wrote; learn and score read its bundles. Their content depends on
// the queries and the parameters alone.
package bundle
