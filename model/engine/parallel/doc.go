// Package parallel runs the loops of the model and of the stages on several goroutines.
package parallel
