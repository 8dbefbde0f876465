package bundle

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"tagnet/formats/tables"
	"tagnet/model/ranker"
	"tagnet/stages/graph"
	"tagnet/stages/worker"
)

// Ask are the queries of every one of some sources with every one of some relations. They are numbered from 0, by source
// and those of a source by relation, and made where they are scored: memory does not grow with their number.
type Ask struct {
	// Lists is the URL of a file of Lists, whose sources are queried. Without it, and if it has no sources, all
	// entities are sources.
	Lists string
	// Relations of the queries, in ascending order, 0..2R-1. Without relations there are no queries.
	Relations []int32
	// Beside is set if known answers are listed beside the best new ones.
	Beside bool
}

// Lists are lists of entities, ascending, for an Ask: its sources, and the only answers it may have. A nil list stands for
// all entities.
type Lists struct{ Sources, Candidates []int32 }

// The types of the table that holds Lists.
const sourceType, candidateType = "source", "candidate"

// WriteLists writes lists as a table of types.
func WriteLists(ctx context.Context, url string, l Lists) error {
	w, err := tables.CreateTypes(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, of := range []tables.Type{{Name: candidateType, Entities: l.Candidates}, {Name: sourceType, Entities: l.Sources}} {
		for _, entity := range of.Entities {
			if err := w.Write(entity, of.Name); err != nil {
				return err
			}
		}
	}
	return w.Commit()
}

// ReadLists reads what WriteLists wrote for a graph of that many entities.
func ReadLists(ctx context.Context, url string, entities int) (l Lists, err error) {
	types, err := tables.ReadTypes(ctx, url)
	if err != nil {
		return l, err
	}
	for _, t := range types {
		if last := t.Entities[len(t.Entities)-1]; int(last) >= entities {
			return l, fmt.Errorf("%s: %s %d is not in the graph", url, t.Name, last)
		}
		switch t.Name {
		case sourceType:
			l.Sources = t.Entities
		case candidateType:
			l.Candidates = t.Entities
		}
	}
	return l, nil
}

// asked makes the queries of an Ask.
type asked struct {
	sources   []int32 // nil for all
	entities  int
	relations []int32
	known     tables.Answers
}

// readAsked returns the queries of an Ask, once per process.
func readAsked(ctx context.Context, p Params) (asked, error) {
	v, err := p.version(ctx, p.Ask.Lists)
	if err != nil {
		return asked{}, err
	}
	return worker.Load(worker.Key{Kind: "queries", URL: p.Graph + " " + p.Split}, v, func() (asked, error) {
		loaded, err := graph.Load(ctx, p.Graph)
		if err != nil {
			return asked{}, err
		}
		view := loaded.Of(p.Split)
		a := asked{entities: view.Graph.Entities, relations: p.Ask.Relations}
		if a.known, err = view.Answers(ctx); err != nil || p.Ask.Lists == "" {
			return a, err
		}
		lists, err := ReadLists(ctx, p.Ask.Lists, a.entities)
		a.sources = lists.Sources
		return a, err
	})
}

// sourceCount returns the number of sources, source the one at a position.
func (a asked) sourceCount() int {
	if a.sources == nil {
		return a.entities
	}
	return len(a.sources)
}

func (a asked) source(at int) int32 {
	if a.sources == nil {
		return int32(at)
	}
	return a.sources[at]
}

// queries returns the queries [from, to).
func (a asked) queries(from, to int) []ranker.Query {
	queries, rows := make([]ranker.Query, to-from), make([]int64, to-from)
	answer := []int32{ranker.None}
	for i := range queries {
		n := from + i
		rows[i] = int64(n)
		source, relation := a.source(n/len(a.relations)), a.relations[n%len(a.relations)]
		queries[i] = ranker.Query{Source: source, Relation: relation, Rows: rows[i : i+1 : i+1], Answers: answer, Known: a.known.Of(source, relation)}
	}
	return queries
}

// cut cuts the queries into ranges as Cut does, but between sources where it can, so that one worker answers all queries of
// a source.
func (a asked) cut(work float64, best int, beside bool) [][2]int {
	each := len(a.relations)
	total := a.sourceCount() * each
	most := max(1, total/shards(total, work)) // queries of a range
	var ranges [][2]int
	from, rows, pair := 0, 0, 0
	end := func(to int) {
		if to > from {
			ranges = append(ranges, [2]int{from, to})
		}
		from, rows = to, 0
	}
	for i := range a.sourceCount() {
		at, size := i*each, each*best
		if beside {
			size += a.knownOf(a.source(i), &pair)
		}
		if rows+size > MaxRows || at-from+each > max(most, each) {
			end(at)
		}
		rows += size
		if size <= MaxRows && each <= most {
			continue
		}
		// The source has more queries than a range.
		step := max(1, min(most, MaxRows/max(1, best)))
		for from+step < at+each {
			end(from + step)
		}
		end(at + each)
	}
	end(total)
	return ranges
}

// knownOf returns how many known answers the queries of a source have. pair is the position in the table of known answers
// behind the last source, which was smaller.
func (a asked) knownOf(source int32, pair *int) int {
	rest := a.known.Sources[*pair:]
	*pair += sort.Search(len(rest), func(i int) bool { return rest[i] >= source })
	count := 0
	for ; *pair < a.known.Len() && a.known.Sources[*pair] == source; *pair++ {
		if _, is := slices.BinarySearch(a.relations, a.known.Relations[*pair]); is {
			count += len(a.known.Lists[*pair])
		}
	}
	return count
}
