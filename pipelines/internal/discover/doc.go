// Package discover is the command that lists the new facts of a graph, those that a trained model finds the
// most probable first.
package discover
