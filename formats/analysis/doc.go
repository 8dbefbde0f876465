// Package analysis reads and writes analysis.json, what analyze finds out about a dataset: its degrees, and the distances and messages of
// each split's queries. analysis.parquet has the same numbers as rows. Degrees counts the edges of shards, and Inputs.Gather adds what other
// files have.
package analysis
