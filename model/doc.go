// Package model answers queries about a knowledge graph with a trained TAGNet model, from Go and without
// Beam.
//
// A query (source, relation, ?) asks for entities by name; the answer is a list of entities with the
// score that the model gives to each, and its probability if the checkpoint is calibrated. Open takes the graph and the best checkpoint of a workspace that
// the pipelines wrote. Load does without a workspace: it takes files of facts and a checkpoint, or weights that answer on any graph,
// such as zero, which this package comes with. Train learns a
// model from facts in memory. Results equal those of the pipelines score and train bit for bit.
//
// The packages below this one are the parts of the model: kg (the graph with its names), configuration,
// parameters, propagation, inference, optimizer, answer, training, checkpoint. This package puts them together,
// imports neither Beam nor cloud packages, and is the one whose exported names stay stable. To read a workspace at
// gs://, import tagnet/formats/storage/gcs for its effect.
//
// An error that wraps a *remedy.Error, of tagnet/formats/remedy, keeps what failed apart from the flags and commands that help.
package model
