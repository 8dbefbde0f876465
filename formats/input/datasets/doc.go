// Package datasets finds knowledge graphs by name, and makes some whose rules are known.
//
// It resolves a name to a folder with train.txt, valid.txt and test.txt, which the pipelines read
// like any other.
package datasets
