// Package relationgraph makes the table of the relation graph that commands with ULTRA's weights need, where the workspace has none
// of the present graph.
package relationgraph
