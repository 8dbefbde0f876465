// Package split divides the facts of one file into training, validation and test facts.
//
// On which side a fact lies follows from the seed and the fact alone: not from its line, nor from the other facts,
// except where a rule moves it to training. So the order of lines changes nothing, and a repeated fact lies on one
// side. Three rules keep the held-out facts fair:
//
//   - Two relations of which one is nearly the inverse of the other, or nearly the same, would give answers away: if
//     (a, parent_of, b) is in training, (b, child_of, a) in test takes no reasoning. Facts of such relations
//     about the same two entities are a group, and a group lies on one side.
//   - A fact with an entity that is in no training fact moves to training: a model could not answer it.
//   - So does a group with a relation that is in no training fact.
//
// An example with the shares 50,25,25, where child_of is the inverse of parent_of:
//
//	ann  parent_of  bob    test      the group {ann, bob} is drawn for test
//	bob  child_of   ann    test      the same group
//	ann  parent_of  cleo   train
//	cleo child_of   ann    train
//	bob  likes      cleo   train
//	dora likes      ann    valid, but dora is in no training fact: train
//
// Facts stay on disk. In memory are the relations, a hash of each entity, and for the search for inverse relations a
// sample of pairs of entities, which is all of them in graphs of less than a quarter million.
package split
