// Package head computes the dense end of the model in training, as a Gorgonia graph that each worker
// builds once: the attention over an entity's states, the score function, the loss, and their
// gradients. The propagation, irregular and large, is one operation of the graph, with its own forward
// and backward pass.
//
// A head processes one query at a time: its answer and K negatives, n = 1 + K candidates, or several answers with K
// negatives each. Package steps calls it in each training step; it calls the propagation. Gorgonia differentiates the
// graph and orders its operations. This package implements the operations and the machine that runs them. Scoring uses
// package inference instead.
package head
