// Package learn is the model stage of training: one DoFn call trains all epochs of a model, in
// parallel over the queries of a batch. It decides when the model is validated and when a checkpoint
// is written: often enough that a training which was interrupted or killed at any moment resumes and
// ends with the same bytes.
//
// Package model/optimizer chooses the batches (Schedule) and makes the training steps, unless a device
// does; stages/score ranks the validation queries. A device has copies of the weights and the solver's
// state: the learner stores them here before it validates or writes a checkpoint.
package learn
