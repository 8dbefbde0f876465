// Package evaluate turns scored bundles into what people and other programs read: ranks and best
// candidates by name, and metrics whole, by direction, by distance and by relation. Its outputs
// depend on the scores alone, not on how the questions were cut into bundles.
package evaluate
