// Package score is the pipeline that asks a trained model: a split, whose answers it ranks and
// measures, or a user's own questions, which it answers by name.
package score
