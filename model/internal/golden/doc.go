// Package golden reads the golden cases: configurations with parameters and queries, and all that an
// independent implementation of the model computed from them in float64, gradients included. Tests
// import it, those of the float64 specification and of the float32 packages, which compare with the
// same numbers by the same rules, and model/gpu/verification, which does so on a machine without the
// repository.
package golden
