// Package tables writes and reads what the pipelines hand each other, as Arrow: names, edges,
// queries, known answers and distances. On disk these are Arrow IPC files, zstd-compressed,
// which any Arrow library opens; between Beam's stages they are Arrow IPC streams.
//
// A file carries a checksum of its every byte between its last batch and Arrow's footer,
// where other readers do not look, so that a flipped or missing byte is an error that names
// the file, before anything is decoded. The same rows give the same bytes. The layout is
// described in the README of formats.
package tables
