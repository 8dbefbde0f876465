package bundle

import (
	"context"
	"fmt"

	"tagnet/formats/workspace/tables"
	"tagnet/model/answer/workload"
	"tagnet/model/engine/parts"
	"tagnet/model/steps"
)

// entitiesPerFile is how many entities the parts of a file may have together: some megabytes.
const entitiesPerFile = 1 << 16

// mostParts bounds the parts of a file where they are small.
const mostParts = 1 << 10

// Cut cuts the queries of a header, which the table of its split at a URL has, into files. It depends on nothing else.
// It holds the queries that it takes, not the table.
func Cut(ctx context.Context, h parts.Header, url string) ([]File, error) {
	takes, err := takenQueries(ctx, h, url)
	if err != nil {
		return nil, err
	}
	c := cutter{perFile: max(1, min(mostParts, entitiesPerFile/h.Reach)), eachQuery: h.Split == parts.Train}
	number := int64(0)
	add := func(source, relation, answer int32) {
		if number < h.Queries && takes(number) {
			c.add(number, source, relation, answer)
		}
		number++
	}
	err = tables.EachAnswered(ctx, url, func(source, relation, answer int32) error {
		add(source, relation, answer)
		if h.Split == parts.Train { // whose table has one of the two queries of a fact
			add(answer, relation+int32(h.BaseRelations), source)
		}
		return nil
	})
	if err == nil && number != h.Queries {
		err = fmt.Errorf("%s has %d queries, not %d", url, number, h.Queries)
	}
	for i := range c.files {
		c.files[i].Files = len(c.files)
	}
	return c.files, err
}

// takenQueries returns which queries, by their numbers, are taken: the ones that the epochs of a header draw, its
// sample, or all.
func takenQueries(ctx context.Context, h parts.Header, url string) (func(number int64) bool, error) {
	d := h.Drawn
	if d == nil {
		return func(number int64) bool { return workload.WithinLimit(h.Limit, int(number), int(h.Queries)) }, nil
	}
	keys, err := steps.ReadKeys(ctx, url, int(h.Queries/2), d.Configuration())
	if err != nil {
		return nil, err
	}
	drawn := make([]bool, h.Queries)
	for epoch := 1; epoch <= d.Epochs; epoch++ {
		for _, batch := range steps.Schedule(keys, d.Configuration(), uint64(d.Seed), epoch) {
			for _, draw := range batch {
				drawn[draw.Number()] = true
			}
		}
	}
	return func(number int64) bool { return drawn[number] }, nil
}

// cutter fills files with queries.
type cutter struct {
	perFile   int
	eachQuery bool // each query has a part of its own, instead of one with all of its source
	files     []File
}

// add adds the next query.
func (c *cutter) add(number int64, source, relation, answer int32) {
	last := len(c.files) - 1
	if c.eachQuery || last < 0 || source != c.files[last].Sources[len(c.files[last].Sources)-1] {
		if last < 0 || c.files[last].Parts == c.perFile {
			last++
			c.files = append(c.files, File{Number: last})
		}
		c.files[last].Parts++
	}
	f := &c.files[last]
	f.Numbers, f.Sources = append(f.Numbers, number), append(f.Sources, source)
	f.Relations, f.Answers = append(f.Relations, relation), append(f.Answers, answer)
}
