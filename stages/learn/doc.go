// Package learn is the model stage of training: one element, the addresses of a split's bundles,
// whose DoFn trains all epochs inside the process, data-parallel over the queries of a batch.
// It decides which facts make a batch, when the model is validated, and what is written so that
// a run that was killed at any moment continues to the same bytes.
//
// The arithmetic of a step is model/optimizer's; ranks are stages/score's.
package learn
