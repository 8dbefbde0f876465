// Package distances is the pipeline that writes, for each source of a split's queries, the
// hops to every entity, and how far the queries' answers are. By --memory it chooses between
// workers that hold the graph and rounds of a join, which need not; both write the same bytes.
package distances
