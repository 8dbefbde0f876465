// Package golden reads the golden cases: configurations with parameters and queries, and all that an
// independent implementation of the model computed from them in float64, gradients included. Only
// tests import it: those of the float64 specification and of the float32 packages, which compare with
// the same numbers by the same rules.
package golden
