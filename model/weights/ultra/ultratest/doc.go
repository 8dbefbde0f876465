// Package ultratest has weights of ULTRA for the tests of other packages, in memory and as files of PyTorch, and what tests do with a model.
package ultratest
