// Package workload reads the queries that score works on, and cuts them into ranges.
//
// All rows of a split's query table with the same source and relation become one answer.Request, since one
// propagation answers them. Queries are sorted by source, since one search serves all queries of a
// source. A range has about equal work and bounded output. Ranges and their content depend on
// the queries and the parameters alone, not on the number of workers or their memory.
package workload
