// Package triples is the stage that reads facts: files in, Arrow batches of facts out, and
// batches of the lines that are none.
//
// An element is a batch, never a line. The batch carries, in its schema's metadata, which file
// it is from and which graph and split that file belongs to.
package triples
