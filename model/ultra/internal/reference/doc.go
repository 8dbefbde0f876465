// Package reference is the specification of ULTRA's model, in float64 and plain loops, as package model/internal/reference is
// that of TAGNet. Tests of package ultra compare their results with it; nothing else imports it. It sends every message of every
// layer, and shares nothing between queries but the states of the relations.
//
// The typed edges between relations are those of package model/internal/reference.
//
//	update.go         node update of both graphs: linear map, layer norm, ReLU, residual
//	states.go         states of the relations, tables of messages, states of the entities
//	score.go          score function
//	gradient.go       loss of a training query, and the gradients of all parameters
package reference
