// Package tables writes and reads the Arrow tables that pipelines exchange: names, edges,
// queries, known answers and distances. On disk these are Arrow IPC files, zstd-compressed,
// which any Arrow library opens; between Beam's stages they are Arrow IPC streams.
//
// Checksums of the whole file lie between its last batch and Arrow's footer, where other
// readers ignore them. A changed or missing byte is an error that names the file, before
// anything is decoded. The same rows give the same bytes. The layout is
// described in the README of formats.
package tables
