// Package explain says why answers got their scores: it reads the predictions, or the list of facts, that a scoring has written
// and writes the best paths to each of them, as rows and as text.
//
// A shard is a slice of a part of these; it becomes a part of explanations with the same order. The threads of a
// worker share its answers. model/explanation has the arithmetic, on the processor: no device computes explanations.
package explain
