// Package head is the small dense end of the model, as a Gorgonia graph built once per
// worker: the attention over an entity's states, the score function, the loss, and their
// gradients. The propagation, irregular and large, enters the graph as one operation whose
// forward and backward passes are the propagation's own.
//
// A head answers for one query at a time: its answer and K negatives, n = 1 + K candidates.
// It stands between the propagation and the training step.
package head
