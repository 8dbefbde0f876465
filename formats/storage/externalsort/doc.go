// Package externalsort sorts more records than memory holds. Records that fit into memory are sorted
// and written to a spill file; a k-way merge then reads all spill files in order. There are four kinds
// of records: rows of three ids, fact rows and ranked rows, which have numbers beside what they sort by, and names.
//
// Only the locations of spill files travel through a pipeline. The files lie in a folder below the
// one that a pipeline writes, and are removed with it if the pipeline does not complete.
//
// Example with rows of one id, when memory holds two rows: the input 5 2 9 2 1 becomes the spill files
// 2 5, 2 9 and 1, which merge to 1 2 2 5 9.
package externalsort
