// Package distances is the pipeline that writes, for each source of a split's queries, the
// hops to every entity, and how far the queries' answers are.
package distances
