// Package datasets finds knowledge graphs by name, and makes one whose rules are known.
//
// It stands beside the house: pipelines ask it for a folder with train.txt, valid.txt and
// test.txt, and read that folder as they would read any other. It imports no stage and no
// model.
package datasets
