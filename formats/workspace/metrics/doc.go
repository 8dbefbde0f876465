// Package metrics has what is written about the ranks of answers: metrics.json, the evaluation of a split, with the
// protocols by which queries are chosen and ranked, and the validations of a training.
package metrics
