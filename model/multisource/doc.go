// Package multisource searches from up to 512 sources at once, a bit each (MS-BFS: Then and
// others, VLDB 2014): what one search reads of the graph serves all of them. It packs the
// distances at 4 bits an entity, and counts the edges between and inside the levels of every
// source, by which all statistics of messages are known, without going to each edge for each
// source. model/search is the same search from one source, with edges removed.
package multisource
