// Package weightstest draws configurations for tests that compare one computation with another, and has weights of
// ULTRA for the tests of other packages, in memory and as files of PyTorch.
package weightstest
