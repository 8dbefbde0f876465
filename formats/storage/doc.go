// Package storage reads and writes files by URL, so that its callers do not depend on where
// files are stored: plain paths and file:// are files of this machine, gs://bucket/object is Google
// Cloud Storage, and mem://name/... the memory of this process, for tests and temporary data.
//
// A file is written under a temporary name, or as an upload that is not yet closed, and
// appears whole at Commit or not at all. A process killed while writing leaves at most a
// temporary file, which List leaves out and the next Create of the same file removes.
package storage
