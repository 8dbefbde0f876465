// Package ask is the command that answers a user's queries by name with a trained model, and scores a user's triples
// or the relations of pairs.
package ask
