// Package search finds how many edges away from a source every entity is, in the graph of
// one query. Windows, bundles and statistics are all made of its distances.
package search
