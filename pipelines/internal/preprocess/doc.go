// Package preprocess is the pipeline that turns text triples into the tables of graph/: names,
// edges, queries, known answers, what was rejected and a summary.
package preprocess
