// Package progress shows how far a long step is: a bar with rate and time left on a terminal,
// a plain line now and then elsewhere. Stages and the model know nothing of it: they call
// functions that a pipeline gives them, or count in Beam, whose counters Follow reads.
package progress
