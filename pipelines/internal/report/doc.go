// Package report writes one HTML page about a workspace: its data, the training, the quality of the
// answers and the counts of messages. It reads the outputs of all other commands. Every one of them
// is optional; the page names the command that makes a missing one. Report does not use Beam.
package report
