// Package check holds what a file must satisfy before its content becomes a value. A checksum says that a file is as it was written,
// not that this program wrote it: a workspace from elsewhere may hold a number of edges below zero, a rank of 0 or a name of a file
// outside its folder, all with the right checksums.
//
// Every type that is read from JSON or Parquet is Checked: storage.ReadJSON, formats/workspace/parquet and the readers of manifests, records and
// probabilities call Check before they return a value, so that no reader can leave it out. Tables of Arrow have their own order
// to verify, in formats/workspace/tables.
package check
