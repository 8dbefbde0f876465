// Package manifest writes and reads manifest.json, the file whose presence makes a stage's
// folder complete: what made the folder, from what, and the size and hash of every file in
// it. It is written last, so that a folder cut short by a crash has none.
package manifest
