// Package truth measures lists of new facts and their probabilities: it removes facts from graphs all of whose facts
// are known, has a model trained on the rest, and compares what it lists with what was removed.
package truth
