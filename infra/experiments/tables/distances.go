package main

import (
	"fmt"
	"slices"

	"tagnet/formats/reach"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/comparison"
)

// distanceColumns are the distances of answers, as results name them: those of 6 layers, all of them, and the answers beyond.
var distanceColumns = []struct {
	title string
	names []string
}{
	{"1 edge", []string{"1"}}, {"2", []string{"2"}}, {"3", []string{"3"}}, {"4", []string{"4"}}, {"5", []string{"5"}}, {"6", []string{"6"}},
	{"all up to 6", []string{"0", "1", "2", "3", "4", "5", "6"}}, {reach.Key, []string{reach.Key}},
}

// hitsByDistance compares fixed delta with NBFNet by the distance of the answer, as far as results have it.
func (e *evidence) hitsByDistance(t *text, pairs []pair) {
	head := []string{"", ""}
	for _, column := range distanceColumns {
		head = append(head, column.title)
	}
	var rows [][]string
	for _, p := range pairs {
		if !hasDistances(p.fixed) || !hasDistances(p.full) {
			continue
		}
		queries, ours, theirs := []string{p.full.Dataset, "queries"}, []string{"", "TAGNet"}, []string{"", "NBFNet"}
		for _, column := range distanceColumns {
			n, a := atDistances(p.fixed, column.names)
			_, b := atDistances(p.full, column.names)
			queries, ours, theirs = append(queries, fmt.Sprint(n)), append(ours, three(a.Mean)), append(theirs, three(b.Mean))
		}
		rows = append(rows, queries, ours, theirs)
	}
	if len(rows) == 0 {
		return
	}
	t.say("Hits@10 by the edges from source to answer. An entity that no path of 6 edges reaches has no state in a window, and ties behind all others. NBFNet updates it too, and ranks it by the relations around it.")
	t.table(head, rows)
}

// hasDistances reports whether a result of the cell has metrics by distance: early ones do not.
func hasDistances(c *cell) bool {
	return slices.ContainsFunc(c.Results, func(r results.Result) bool { return r.Evaluation[results.TestProtocol].ByDistance != nil })
}

// atDistances returns the number of test queries whose answer is at some distances, and their Hits@10 over the seeds that have it.
func atDistances(c *cell, names []string) (queries int64, hits comparison.Spread) {
	hits = c.Spread(func(r results.Result) (float64, bool) {
		n, sum := int64(0), 0.0
		for _, name := range names {
			d := r.Evaluation[results.TestProtocol].ByDistance[name]
			n += d.Queries
			sum += float64(d.Queries) * d.Pessimistic.Hits10
		}
		queries = max(queries, n)
		return sum / float64(n), n > 0
	})
	return queries, hits
}
