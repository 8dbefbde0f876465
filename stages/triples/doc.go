// Package triples reads the facts of text files: it splits large files into chunks that workers read in
// parallel, and collects rejected lines.
//
// Facts never travel as elements of a pipeline. Chunks do, and each step that needs the facts reads the
// chunk again: a step that sorts by ids needs all names first, so facts would have to be stored in
// between, which costs more than parsing them twice. A chunk knows the number of its first line, for
// errors and rejects, and its checksum, so that every step sees the same text.
package triples
