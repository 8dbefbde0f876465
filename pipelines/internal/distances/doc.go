// Package distances is the pipeline that writes the hops from each source of a split's queries to
// every entity, and the distribution of the distances to the answers. By --memory it chooses between
// workers that load the whole graph and a join over its shards; both write the same bytes.
package distances
