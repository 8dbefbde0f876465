// Package parquet writes the tables that people load elsewhere (pandas, DuckDB, Spark):
// rankings, predictions, counts of messages and the shares of an analysis, with names in place
// of ids.
//
// A file carries a checksum of its every byte before Parquet's footer, where other readers
// do not look; Read verifies it. The same rows give the same bytes. A file is made and read
// in memory as a whole.
package parquet
