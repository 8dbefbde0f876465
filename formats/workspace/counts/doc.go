// Package counts has what preprocess, distances and messages count: summary.json of graph/, the sizes of a dataset;
// distribution.json, a split's queries by the distance of their answers; and summary.json of messages/SPLIT, the
// messages of propagation by layers and delta.
package counts
