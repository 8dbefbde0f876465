// Package progress shows the progress of a long step: a bar with rate and remaining time on a
// terminal, a plain line every few seconds elsewhere. Stages and the model do not depend on it: they
// count by package worker, in Beam's metrics too, which Follow reads.
package progress
