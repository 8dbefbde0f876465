// Package score is the command that evaluates a trained model: it ranks the answers of a split's queries
// and computes metrics.
package score
