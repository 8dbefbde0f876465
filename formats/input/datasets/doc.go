// Package datasets finds knowledge graphs by name: a folder with train.txt, valid.txt and test.txt, which the pipelines
// read like any other.
package datasets
