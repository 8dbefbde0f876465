// Package learn trains a model: all epochs in one call, in parallel over the queries of a batch. It
// decides when the model is validated and when a checkpoint is written: often enough that a training
// which was interrupted or killed at any moment resumes and ends with the same bytes.
//
// Several workers may train one model instead, by Tasks. A round deals the next batches of the epoch to n
// shards, each of which makes K steps from the same checkpoint and writes a checkpoint of its own; the
// mean of these is the round's checkpoint, from which the next round starts. For n = 2 and K = 2, the
// first epoch of 7 batches has the rounds
//
//	batches  shard 0  shard 1  solver's steps  checkpoint
//	0 to 3   0, 2     1, 3     2               step-00000002
//	4 to 6   4, 6     5        4               step-00000004, then validated as epoch-001
//
// Whoever runs the tasks, one after the other, may end after any of them and continue there.
//
// Package steps chooses the batches (Schedule) and makes the training steps, unless a device
// does; answer ranks the validation queries. A device has copies of the weights and the solver's
// state: the learner stores them here before it validates or writes a checkpoint.
package learn
