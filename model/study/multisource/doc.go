// Package multisource searches from up to 512 sources at once, with a bit for each (MS-BFS: Then and
// others, VLDB 2014), so that all of them share one pass over the graph. It packs the distances into 4
// bits per entity, and counts the edges between and inside the levels of every source, from which
// package messages derives its statistics. Package search is the same search from one source, in a
// graph with edges removed.
package multisource
