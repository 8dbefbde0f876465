// Package preprocess is the pipeline that turns text triples into the tables of graph/: names,
// edges, queries, known answers, rejected lines and a summary.
package preprocess
