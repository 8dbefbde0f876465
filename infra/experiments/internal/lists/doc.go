// Package lists reads lists of runs: the grid of the paper's experiments, models of any graph, models of a part of the graph, and commands whose time and memory are
// measured.
package lists
