// Package score is the pipeline that applies a trained model. It ranks the answers of a split and
// computes metrics, or it answers a user's own queries by name.
package score
