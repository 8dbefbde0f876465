// Package messages is the pipeline that counts the messages of a split's queries for lists of layers
// and deltas, and with a checkpoint of A*Net the messages that it chooses.
package messages
