// Package model finds the facts that a knowledge graph lacks, and says how likely each is true, from Go.
//
// Discover takes facts in memory and lists new ones. To ask more, make a Model: Open takes the graph and the best
// checkpoint of a workspace that the pipelines wrote, Load files of facts and a checkpoint, or weights that answer on
// any graph, such as zero, which this package comes with. Train learns a model from facts in memory. A query (source,
// relation, ?) asks for entities by name. Answers come from the graph of all facts, validation and test among them, and
// a known fact is scored in the graph without it. Fit makes probabilities, unless the workspace has some. Results equal
// the results of the commands score and train bit for bit.
//
// The packages below this one are the parts of the model, and model/README.md names them. This package puts them
// together, imports neither Beam nor cloud packages, and is the one whose exported names stay stable. To read a
// workspace at gs://, import tagnet/formats/storage/gcs for its effect.
//
// An error that wraps a *remedy.Error, of tagnet/formats/remedy, keeps what failed apart from what helps, and there the
// words apart from the flags and commands: errors know remedies since what helps is known where something fails, and
// remedy.Written lets a program write them for its own users.
package model
