package budget

import "tagnet/model/weights/configuration"

// Triples estimates scoring so many given lines, each of which stands for some triples, in shards of at most shardRows queries. Of a line so
// many rows are written, all of which are sorted in the end.
func Triples(s Sizes, c configuration.Configuration, lines, each, rows int64, shardRows int) Estimate {
	const (
		perLine = 120 // as it is read, with the set that finds repetitions, and in order
		perRow  = 400 // with its names, and as text
	)
	s.Queries = min(2*lines*each, Shards*(2*each+int64(shardRows)))
	e := Score(s, c, 0, shardRows)
	e.Task = "scoring triples on this graph"
	e.Rows = append(e.Rows, Row{"triples", perLine*lines + perRow*lines*rows}, Row{"surroundings", surroundings(s)})
	return e
}
