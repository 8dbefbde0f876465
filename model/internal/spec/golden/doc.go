// Package golden reads the golden cases: configurations with parameters and queries, and all that an
// independent implementation of the model computed from them in float64, gradients included. Tests
// of the float64 specification and of the float32 packages import it, and compare with the same
// numbers by the same rules.
//
// Where several messages attain an extreme of an aggregation, a case's gradients go to the first by sender, then
// relation. In cases that a device computes too, whose order is another (see package gpu), no messages of different
// relations do so.
package golden
