// Package analyze is the pipeline that analyzes a dataset as the paper does: degrees, distances of
// the answers, and the messages that a window saves. It runs preprocess, distances and messages if
// their outputs are missing, writes analysis/, and then the report.
package analyze
