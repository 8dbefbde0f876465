package parts

import (
	"tagnet/formats/tables"
	"tagnet/model/kg"
	"tagnet/model/optimizer"
	"tagnet/model/parts"
)

// entitiesPerFile is how many entities the parts of a file may have together: some megabytes.
const entitiesPerFile = 1 << 16

// mostParts is the most parts of a file.
const mostParts = 1 << 10

// query is a query with its number in the split.
type query struct {
	number int64
	tables.Query
}

// Cut cuts the queries of a header, which the table of its split has, into files. It depends on nothing else.
func Cut(h parts.Header, table []tables.Query) []File {
	queries := make([]query, 0, len(table))
	if h.Split == parts.Train {
		queries = trainingQueries(h, table, queries)
	} else {
		for i, q := range table {
			queries = append(queries, query{int64(i), q})
		}
	}
	perFile := max(1, min(mostParts, entitiesPerFile/h.Reach))
	var files []File
	for from := 0; from < len(queries); {
		f := File{Number: len(files)}
		for ; from < len(queries); from++ {
			q := queries[from]
			if h.Split == parts.Train || len(f.Sources) == 0 || q.Source != f.Sources[len(f.Sources)-1] {
				if f.Parts == perFile {
					break
				}
				f.Parts++
			}
			f.Numbers, f.Sources = append(f.Numbers, q.number), append(f.Sources, q.Source)
			f.Relations, f.Answers = append(f.Relations, q.Relation), append(f.Answers, q.Answer)
		}
		files = append(files, f)
	}
	for i := range files {
		files[i].Of = len(files)
	}
	return files
}

// trainingQueries appends the training queries that the epochs of a header draw, or both of every fact.
func trainingQueries(h parts.Header, table []tables.Query, to []query) []query {
	facts := kg.Facts(table)
	drawn := make([]bool, 2*len(facts))
	if d := h.Drawn; d != nil {
		keys := optimizer.KeysOf(facts, d.Configuration())
		for epoch := 1; epoch <= d.Epochs; epoch++ {
			for _, batch := range optimizer.Schedule(keys, d.Configuration(), uint64(d.Seed), epoch) {
				for _, draw := range batch {
					drawn[draw.Number()] = true
				}
			}
		}
	}
	for number := range drawn {
		if h.Drawn != nil && !drawn[number] {
			continue
		}
		draw := optimizer.Draw{Fact: int32(number / 2), Inverse: number%2 == 1}
		e := draw.Example(facts, int32(h.BaseRelations), 0, 0)
		to = append(to, query{int64(number), tables.Query{Source: e.Source, Relation: e.Relation, Answer: e.Answer, Inverse: draw.Inverse}})
	}
	return to
}
