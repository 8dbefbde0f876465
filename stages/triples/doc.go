// Package triples finds the facts of texts: it cuts large texts into parts that workers read side
// by side, and keeps the lines that are rejected.
//
// Facts never travel as elements of a pipeline: a part does, and each step that needs its facts
// reads it anew. A part knows its first line, so that errors and rejects name lines of the text,
// and its checksum, so that every step reads the same.
package triples
