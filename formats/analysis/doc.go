// Package analysis reads and writes analysis.json, what analyze finds out about a dataset: its degrees, and the distances and messages of
// each split's queries. analysis.parquet has the same numbers as rows.
package analysis
