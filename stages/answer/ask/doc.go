// Package ask is the stage that answers a user's own queries, and scores a user's triples or the relations of a user's pairs.
//
// The worker that answers a shard writes its part of the table, names and explanations included; only counts are sent on, and the text is
// written when all parts are there.
package ask
