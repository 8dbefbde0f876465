// Package columns reads the columns of Parquet files, of any program and however damaged or forged.
//
// Arrow's readers decode whole tables in goroutines of their own, where a panic ends the program, allocate what a file
// declares, and can loop forever on pages that end early. So only the schema is Arrow's; pages and values are decoded
// here, in the goroutine of the caller and with bounded memory: that of a column chunk in the file, and of a page of at
// most 256 MiB and its dictionary.
package columns
