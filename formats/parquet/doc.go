// Package parquet writes the tables that people load elsewhere (pandas, DuckDB, Spark):
// rankings, predictions, counts of messages and the shares of an analysis, with names in place
// of ids.
//
// A checksum of the whole file stands before Parquet's footer, where other readers ignore it;
// Read verifies it. The same rows give the same bytes. Files are written and read as a whole,
// in memory.
package parquet
