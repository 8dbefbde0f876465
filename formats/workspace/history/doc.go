// Package history reads and writes training.jsonl, which has a line for each epoch of a training.
package history
