// Package messages counts, exactly and without propagating, what a propagation sends: in all,
// and per layer what the window keeps, what it keeps though it is empty, and what it prunes.
// A source's counts for every number of layers and every delta follow from how many edges
// join and lie inside its levels of distance, 2T + 1 numbers.
package messages
