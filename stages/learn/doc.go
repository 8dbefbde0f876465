// Package learn is the model stage of training: one DoFn call trains all epochs of a model, in
// parallel over the queries of a batch. It decides when the model is validated and when a checkpoint
// is written: often enough that a training which was interrupted or killed at any moment resumes and
// ends with the same bytes.
//
// Package model/optimizer chooses the batches (Schedule) and makes the training steps; stages/score
// ranks the validation queries.
package learn
