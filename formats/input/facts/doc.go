// Package facts reads facts from files that other programs wrote: tab-separated text with more columns or a header,
// CSV, JSON lines, N-Triples, N-Quads, Turtle, Parquet, and the numbers of OpenKE. Every reader streams, names the line
// (of Parquet, the row) of each fact and of everything that is none, and hands on names that package triples accepts.
package facts
