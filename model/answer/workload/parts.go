package workload

import (
	"context"
	"runtime"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/budget"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/parallel"
)

// Parts are the distinct queries of a split, which are read from parts of the graph. It holds 8 bytes for each.
type Parts struct {
	folder *parts.Folder
	firsts []int64 // of each query, the first of its rows in the split's table
	rows   int64   // of the table
	limit  int64   // of Params
}

// ReadParts returns the queries of the split of a folder of parts of the graph in another, of which limit rows are
// taken as Params says.
func ReadParts(ctx context.Context, graphFolder string, folder *parts.Folder, limit int64) (*Parts, error) {
	h, url := &folder.Header, storage.Join(graphFolder, kg.QueriesFile(folder.Header.Split))
	p := &Parts{folder: folder, rows: h.Queries, limit: limit}
	row, last := int64(0), graph.Query{Source: -1}
	ordered, counted := true, last
	err := tables.EachAnswered(ctx, url, func(source, relation, _ int32) error {
		q := graph.Query{Source: source, Relation: relation}
		if q.Source < last.Source || q.Source == last.Source && q.Relation < last.Relation {
			ordered = false
		}
		if last = q; p.takes(row) && (q.Source != counted.Source || q.Relation != counted.Relation) {
			p.firsts, counted = append(p.firsts, row), q
		}
		row++
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !ordered || row != p.rows {
		return nil, remedy.Errorf(remedy.Run("bundle", remedy.Flag("split", h.Split), remedy.Flag("force")),
			"%s: its %d queries are not the %d, in order, of the parts", url, row, p.rows)
	}
	return p, nil
}

// Close closes the files of parts.
func (p *Parts) Close() error { return p.folder.Close() }

func (p *Parts) takes(row int64) bool {
	return WithinLimit(p.limit, int(row), int(p.rows))
}

// end returns the first row behind a query's rows.
func (p *Parts) end(query int) int64 {
	if query+1 < len(p.firsts) {
		return p.firsts[query+1]
	}
	return p.rows
}

// takenRows returns how many of the rows [from, to) are taken.
func (p *Parts) takenRows(from, to int64) (n int) {
	for row := from; row < to; row++ {
		if p.takes(row) {
			n++
		}
	}
	return n
}

// Rows returns the number of rows that are taken.
func (p *Parts) Rows() int64 {
	if p.limit <= 0 {
		return p.rows
	}
	return min(p.limit, p.rows)
}

// Len returns the number of queries.
func (p *Parts) Len() int { return len(p.firsts) }

// Cut cuts the queries as a table's queries.
func (p *Parts) Cut(params Params) [][2]int {
	return cut(len(p.firsts), func(i int) int { return p.takenRows(p.firsts[i], p.end(i)) }, params.Work, params.rows())
}

// Range reads the queries [from, to), with their parts.
func (p *Parts) Range(from, to int) ([]answer.Request, error) {
	queries, threads := make([]answer.Request, to-from), min(to-from, runtime.GOMAXPROCS(0))
	errs := make([]error, threads)
	parallel.Workers(threads, threads, func(_, i int) { // each of its own range, so that queries of a source share their part
		r := p.folder.Reader()
		for at := i * (to - from) / threads; at < (i+1)*(to-from)/threads && errs[i] == nil; at++ {
			queries[at], errs[i] = p.read(r, from+at)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return queries, nil
}

func (p *Parts) read(r *parts.Reader, query int) (q answer.Request, err error) {
	part, err := r.Find(p.firsts[query])
	if err != nil {
		return q, err
	}
	q = answer.Request{Query: graph.Query{Source: part.Entities[part.Source], Relation: -1, Answer: graph.None}, Part: &part.Subgraph}
	for _, numbered := range part.Queries {
		if numbered.Number == p.firsts[query] {
			q.Relation, q.Known = numbered.Relation, numbered.Known
		}
		if numbered.Relation == q.Relation && numbered.Number < p.end(query) && p.takes(numbered.Number) {
			q.Rows, q.Answers = append(q.Rows, numbered.Number), append(q.Answers, numbered.Answer)
		}
	}
	return q, nil
}

// Each calls each for the queries [from, to), with all at once, or with as many as may have their parts in memory.
func Each(q Queries, from, to int, each func([]answer.Request) error) error {
	step := max(1, to-from)
	if _, read := q.(*Parts); read {
		step = budget.PartsAtOnce
	}
	for ; from < to; from += step {
		queries, err := q.Range(from, min(to, from+step))
		if err != nil {
			return err
		}
		if err := each(queries); err != nil {
			return err
		}
	}
	return nil
}
