// Package triples reads facts and queries from text: one per line, with fields separated by tabs. It
// is strict about every line, so that a name in a report is byte for byte the name in the file. Package facts reads
// such text with other columns, and all other formats.
//
// Scan splits a large file into chunks that workers read in parallel, and MergeRejects collects the lines that they
// rejected. Facts never travel as elements of a pipeline. Chunks do, and each step that needs the facts reads the chunk
// again: a step that sorts by ids needs all names first, so facts would have to be stored in between, which costs more
// than parsing them twice. A chunk knows the number of its first line, for errors and rejects, and its checksum, so
// that every step sees the same text.
package triples
