// Package triples reads facts and queries from text: a line each, fields separated by
// tabs. It is the only parser of such text in the project, strict about every line, so that
// a name that a person meets in a report is byte for byte the one in the file.
package triples
