// Package storage reads and writes files by URL, so that nothing above it knows where they
// lie: plain paths and file:// on this machine, gs://bucket/object on Google Cloud Storage,
// mem://name/... in the memory of this process, for tests and for what is not to be written yet.
//
// A file is written under a temporary name, or as an upload that is not yet closed, and
// appears whole at Commit or not at all. A process killed while writing leaves at most a
// temporary file, which List leaves out and the next Create of the same file removes.
package storage
