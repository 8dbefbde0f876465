// Package lists reads lists of runs: the grid of the paper's experiments, foundation models, models of a part of the
// graph, and commands whose time and memory are measured.
package lists
