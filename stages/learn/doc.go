// Package learn is the model stage of training: one DoFn call trains all epochs of a model, in
// parallel over the queries of a batch. It decides which facts make a batch, when the model is
// validated, and what is written so that a training that was interrupted or killed at any moment
// continues to the same bytes.
//
// model/optimizer makes the training steps, stages/score ranks the validation queries.
package learn
