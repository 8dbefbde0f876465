// Package tables writes and reads the Arrow tables that pipelines exchange: names, edges,
// queries, known answers, distances and parts of graphs. On disk these are Arrow IPC files, zstd-compressed,
// which any Arrow library opens; between Beam's stages they are Arrow IPC streams.
//
// Checksums of the whole file are stored between its last batch and Arrow's footer, where other
// readers ignore them. If a byte was changed or is missing, the reader returns an error that names
// the file, before it decodes anything. The same rows give the same bytes. The README of formats
// describes the layout.
package tables
