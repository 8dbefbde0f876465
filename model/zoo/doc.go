// Package zoo has small trained models to start from, inside every program that imports it. Each is a checkpoint as
// train wrote it, with a card: how it was trained, on which data, and what it scores.
package zoo
