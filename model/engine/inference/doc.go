// Package inference scores all entities as answers of a query with a trained model: one forward pass for each
// query, and the head's MLP over the final states. It computes what package head does, without gradients and
// without Gorgonia, with the kernels over many entities at a time; a test compares both.
package inference
