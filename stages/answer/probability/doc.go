// Package probability is the stage that fits the probabilities of a model (model/answer/probability): it draws the sample that they are
// fitted to, has workers observe it in the graph of all facts, and writes the file of what was fitted.
//
// Every process draws the sample itself: it follows from the graph, the weights and the reach. A shard is a range of its facts and one of its
// queries. Workers send observations as bytes, 44 for each, through one barrier, and one worker fits to them. Neither the number of shards nor
// the order of observations changes a bit of the file.
package probability
