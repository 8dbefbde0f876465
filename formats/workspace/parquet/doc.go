// Package parquet writes the tables that people load with other programs (pandas, DuckDB, Spark):
// rankings, predictions and counts of messages, with names instead of ids.
//
// A checksum of the whole file precedes Parquet's footer, where other readers ignore it; Read verifies
// it. The same rows give the same bytes. A table that grows with the queries is a folder of parts (PartFile), which
// many workers write. A file or part is written and read as a whole, in memory.
//
// A ColumnFile reads the columns of Parquet files, of any program and however damaged or forged, for this package and
// package facts. Arrow's readers decode whole tables in goroutines of their own, where a panic ends the program,
// allocate what a file declares, and can loop forever on pages that end early. So only the schema is Arrow's; pages and
// values are decoded here, in the goroutine of the caller and with bounded memory: that of a column chunk in the file,
// and of a page of at most 256 MiB and its dictionary. github.com/parquet-go/parquet-go (0.32) does not replace this:
// it allocates what the header of a page declares, unpacks without a limit (a damaged LZ4 page until memory ends), and
// fills values that a page lacks.
package parquet
