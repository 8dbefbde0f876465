// Package score is the model stage of evaluation: bundles and a checkpoint in, scores, ranks
// and best candidates out. One propagation answers every query of a (source, relation), and the
// questions of a bundle are shared out over threads. Training validates its epochs with the
// same code.
//
// What comes out is by id and by bundle; stages/evaluate puts names to it and writes it.
package score
