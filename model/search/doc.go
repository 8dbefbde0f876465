// Package search finds the distance from one source to every entity, in a graph that may have edges
// removed. Package multisource searches from many sources at once.
package search
