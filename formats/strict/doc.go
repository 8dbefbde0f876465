// Package strict holds what a file must satisfy before its content becomes a value.
//
// Decode reads JSON that people write or edit. An unknown key, a repeated key, a value of another type, null, and
// text after the end are errors with a line and a column; encoding/json accepts most of them, and reports the others
// without a position.
//
// What programs write is Checked. A checksum says that a file is as it was written, not that this program wrote it: a
// workspace from elsewhere may hold a number of edges below zero, a rank of 0 or a name of a file outside its folder,
// all with the right checksums. Every type that is read from JSON or Parquet has a method Check: storage.ReadJSON,
// formats/workspace/parquet and the readers of manifests, records and probabilities call it before they return a value,
// so that no reader can leave it out. Tables of Arrow have their own order to verify, in formats/workspace/tables.
package strict
