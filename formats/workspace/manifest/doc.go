// Package manifest writes and reads manifest.json, the file whose presence makes an output
// folder complete: what made the folder, from which inputs, and the size and hash of every file in
// it. It is written last, so that a folder that a crash left incomplete has none.
package manifest
