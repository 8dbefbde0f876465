// Package preprocess is the command that turns facts, of text, tables or RDF, into the tables of graph/: names, edges,
// queries, known answers, rejected lines and a summary.
package preprocess
