// Package parts writes and reads folders of parts of a graph, each with the queries that propagate through it (package subgraph), so
// that these queries can be trained and scored where the graph does not fit.
//
// A folder has files of parts (tables.Part), a header that describes the queries, the reach and the whole graph, and, last, a
// manifest. In a folder for training each part has one query, whose fact leaves the graph before the part is found. In all other
// folders a part has all queries of its source.
package parts
