// Package counts has what distances and messages count of the queries of a split: distribution.json, the queries by the distance of their
// answers, and summary.json, the messages of propagation by layers and delta.
package counts
