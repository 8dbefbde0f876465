// Package parquet writes the tables that people load with other programs (pandas, DuckDB, Spark):
// rankings, predictions and counts of messages, with names instead of ids.
//
// A checksum of the whole file precedes Parquet's footer, where other readers ignore it; Read verifies
// it. The same rows give the same bytes. A table that grows with the queries is a folder of parts (PartFile), which
// many workers write. A file or part is written and read as a whole, in memory.
package parquet
