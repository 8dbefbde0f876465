// Package stack is layers of messages between rows of a table, each with the update x + relu(layer_norm(W [x, total] + b)), total
// being the sum of messages and boundary. It computes block by block and keeps nothing of a forward pass but the states: a backward
// pass sums messages and multiplies again. Package relations propagates between relations with it.
package stack
