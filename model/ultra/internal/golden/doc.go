// Package golden reads golden cases of ULTRA for the tests: graphs, and what an independent implementation in float64 computes of
// them with the published weights.
package golden
