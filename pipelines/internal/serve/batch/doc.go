// Package batch answers concurrent queries in batches: queries that wait and share a key, such as their source, are computed
// together, and a query that several ask at the same time is answered once.
//
// A query never waits for others to join it. As long as a worker is free, a query is its own batch and starts at
// once; when all are busy, the queries of each key gather in a batch until its turn comes. Batches are taken in
// the order in which they were opened.
//
//	two workers, queries of the keys a, b and c, in this order: a1 b1 c1 a2 c2 a2
//	worker 1   [a1]      [c1 c2]
//	worker 2   [b1]   [a2]            the second a2 waits for the first
package batch
