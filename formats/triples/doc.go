// Package triples reads facts and queries from text: one per line, with fields separated by tabs. It
// is the only parser of such text in the project, and strict about every line, so that a name in a
// report is byte for byte the name in the file.
package triples
