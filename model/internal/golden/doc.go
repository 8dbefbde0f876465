// Package golden reads the golden cases: configurations with parameters, queries and
// everything that an independent implementation of the model computed from them in float64,
// gradients included. It is used by tests alone, of the specification in float64 and of the
// kernels in float32, so that both are held to the same numbers by the same rules.
package golden
