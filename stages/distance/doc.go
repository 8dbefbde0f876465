// Package distance is the stage that searches: batches of sources in, tables of their
// distances to every entity out.
//
// An element carries source ids only. Workers load the graph once per process; one element is
// searched by several threads of its worker, up to 512 sources at once in each.
package distance
