// Package score is the pipeline that applies a trained model: to a split, whose answers it ranks and
// measures, or to a user's own queries, which it answers by name.
package score
