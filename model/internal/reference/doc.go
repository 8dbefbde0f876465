// Package reference is the specification of the model, in float64 and in plain loops: it
// says what the fast rooms of the model compute, and their tests hold them to it. Nothing
// here is clever. Every message that a window admits is sent, the empty ones included;
// update vectors have all their 12 d entries; sets are sets. One file holds one idea:
//
//	search.go     how far every entity is from the source
//	window.go     who listens to whom, by distance
//	priority.go   who sends to whom, by priority (A*Net)
//	relation.go   what a relation means in a layer
//	message.go    what a sender and a relation say
//	aggregate.go  how a set of messages becomes one vector
//	update.go     how that vector changes an entity's state
//	propagate.go  layer after layer, and back
//	attention.go  which of its states an entity ends in
//	score.go      how good an answer a state makes
//	loss.go       how wrong the scores are, and the answer's rank
//
// Each has its gradient beside it, by hand.
package reference
