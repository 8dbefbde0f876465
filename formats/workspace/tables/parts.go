package tables

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/remedy"
)

// Part is the part of a graph that some queries of one source propagate through, with these queries. Its entities have
// ids 0, 1, .. of their own, in the order of the graph's.
type Part struct {
	Source int32
	// Entities are the ids in the graph, ascending, and the source is one of them.
	Entities []int32
	// Counts has the number of edges that enter each entity, and Degrees that in the whole graph.
	Counts, Degrees []int32
	// Senders, by their ids in the part, and Relations are the edges, grouped by the entity that they enter, in the
	// order of sender and relation.
	Senders, Relations []int32
	// Numbers are the numbers of the queries, ascending. Asked are their relations, ascending, and Answers the answers
	// of their facts.
	Numbers        []int64
	Asked, Answers []int32
	// Known are the known answers, ascending, of one asked relation after the other, and KnownCounts how
	// many each of them has.
	Known, KnownCounts []int32
}

// size returns the number of bytes of the rows' lists.
func (p *Part) size() int {
	return 4*(3*len(p.Entities)+2*len(p.Senders)+4*len(p.Numbers)+len(p.Known)+len(p.KnownCounts)) + 4
}

// PartSizes are the numbers of entities and base relations of a graph, which bound the ids of its parts.
type PartSizes struct{ Entities, BaseRelations int }

const (
	partsName        = "parts"
	baseRelationsKey = "tagnet.base_relations"
)

func (s PartSizes) schema() *arrow.Schema {
	list := func(name string) arrow.Field { return arrow.Field{Name: name, Type: listType} }
	return newSchema(partsName, []arrow.Field{
		int32Field("source"), list("entities"), list("counts"), list("degrees"), list("senders"), list("relations"),
		{Name: "numbers", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)}, list("asked"), list("answers"), list("known"), list("known_counts"),
	}, entitiesKey, strconv.Itoa(s.Entities), baseRelationsKey, strconv.Itoa(s.BaseRelations))
}

// columns returns the lists of a part that have entries of 32 bits, in the order of the schema. The numbers are between
// the fifth and the sixth.
func (p *Part) columns() []*[]int32 {
	return []*[]int32{&p.Entities, &p.Counts, &p.Degrees, &p.Senders, &p.Relations, &p.Asked, &p.Answers, &p.Known, &p.KnownCounts}
}

// check checks what readers rely on. last is the last query of the part before, or -1.
func (p *Part) check(s PartSizes, last int64) error {
	n := len(p.Entities)
	within := func(list []int32, end int) bool {
		for _, x := range list {
			if x < 0 || int(x) >= end {
				return false
			}
		}
		return true
	}
	// Queries, then entities, then edges.
	switch {
	case len(p.Numbers) == 0 || len(p.Asked) != len(p.Numbers) || len(p.Answers) != len(p.Numbers):
		return fmt.Errorf("the part of source %d has %d numbers, %d relations and %d answers of queries", p.Source, len(p.Numbers), len(p.Asked),
			len(p.Answers))
	case !ascending(p.Numbers) || p.Numbers[0] <= last:
		return fmt.Errorf("query %d of source %d comes after query %d, or its part is not in the order of queries", p.Numbers[0], p.Source, last)
	case !ascending(p.Entities) || !within(p.Entities, s.Entities):
		return fmt.Errorf("the entities of source %d are not ascending, or not of %d", p.Source, s.Entities)
	case !slices.Contains(p.Entities, p.Source):
		return fmt.Errorf("source %d is not in its part", p.Source)
	case len(p.Counts) != n || len(p.Degrees) != n || len(p.Relations) != len(p.Senders):
		return fmt.Errorf("the part of source %d has %d entities, %d counts, %d degrees, %d senders and %d relations", p.Source, n, len(p.Counts),
			len(p.Degrees), len(p.Senders), len(p.Relations))
	case !within(p.Senders, n) || !within(p.Relations, 2*s.BaseRelations):
		return fmt.Errorf("the part of source %d has edges of other entities or relations", p.Source)
	case !within(p.Asked, 2*s.BaseRelations) || !slices.IsSorted(p.Asked) || !within(p.Answers, s.Entities):
		return fmt.Errorf("queries of source %d are not in the order of their relations, or of other ones or entities", p.Source)
	}
	if err := p.checkEdges(); err != nil {
		return err
	}
	return p.checkKnown(s.Entities)
}

// checkEdges checks that every entity has its edges, in order.
func (p *Part) checkEdges() error {
	at := 0
	for i, count := range p.Counts {
		if count < 0 || int(count) > len(p.Senders)-at || p.Degrees[i] < count {
			return fmt.Errorf("entity %d of source %d has %d edges of %d, in a part of %d", p.Entities[i], p.Source, count, p.Degrees[i], len(p.Senders))
		}
		end := at + int(count)
		for j := at + 1; j < end; j++ {
			if a, b := p.Senders[j-1], p.Senders[j]; a > b || a == b && p.Relations[j-1] >= p.Relations[j] {
				return fmt.Errorf("the edges of entity %d of source %d are out of order or duplicates", p.Entities[i], p.Source)
			}
		}
		at = end
	}
	if at != len(p.Senders) {
		return fmt.Errorf("the part of source %d has %d edges, and counts %d", p.Source, len(p.Senders), at)
	}
	return nil
}

// checkKnown checks that each asked relation has its known answers.
func (p *Part) checkKnown(entities int) error {
	asked, at := 0, 0
	for i := range p.Asked {
		if i == 0 || p.Asked[i] != p.Asked[i-1] {
			asked++
		}
	}
	if asked != len(p.KnownCounts) {
		return fmt.Errorf("queries of source %[2]d have %[1]d relations, and %[3]d of them known answers", asked, p.Source, len(p.KnownCounts))
	}
	for _, count := range p.KnownCounts {
		if count < 0 || int(count) > len(p.Known)-at {
			return fmt.Errorf("source %d has %d known answers, and counts more", p.Source, len(p.Known))
		}
		list := p.Known[at : at+int(count)]
		if !ascending(list) || len(list) > 0 && (list[0] < 0 || int(list[len(list)-1]) >= entities) {
			return fmt.Errorf("known answers of source %d are not ascending, or not of %d entities", p.Source, entities)
		}
		at += int(count)
	}
	if at != len(p.Known) {
		return fmt.Errorf("source %d has %d known answers, and counts %d", p.Source, len(p.Known), at)
	}
	return nil
}

// ascending reports whether every entry is greater than the one before.
func ascending[T int32 | int64](list []T) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			return false
		}
	}
	return true
}

// PartsWriter writes parts in the order of their queries. It holds one batch and its encoding in memory: a part, or as
// many as take some hundred kilobytes.
type PartsWriter struct {
	*tableWriter
	sizes   PartSizes
	sources []int32 // of the pending batch
	lists   [9]struct{ flat, offsets []int32 }
	numbers []int64
	ends    []int32
	last    int64
}

// CreateParts begins a file of parts of a graph of some size.
func CreateParts(ctx context.Context, url string, s PartSizes) (w *PartsWriter, err error) {
	w = &PartsWriter{sizes: s, last: -1}
	w.forget()
	schema := s.schema()
	w.tableWriter, err = createTable(ctx, url, schema, func() []arrow.Array {
		columns := w.columns(schema)
		w.forget() // Arrow has encoded them before the next part is added
		return columns
	})
	return w, err
}

// forget drops the pending parts.
func (w *PartsWriter) forget() {
	w.sources, w.numbers, w.ends = w.sources[:0], w.numbers[:0], append(w.ends[:0], 0)
	for i := range w.lists {
		l := &w.lists[i]
		l.flat, l.offsets = l.flat[:0], append(l.offsets[:0], 0)
	}
}

// columns returns the pending parts. They are views.
func (w *PartsWriter) columns(schema *arrow.Schema) []arrow.Array {
	columns := []arrow.Array{int32s(w.sources)}
	list := func(offsets []int32, flat arrow.Array) {
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))}
		kind := schema.Field(len(columns)).Type
		columns = append(columns, array.NewListData(array.NewData(kind, len(w.sources), buffers, []arrow.ArrayData{flat.Data()}, 0, 0)))
	}
	for i, l := range w.lists {
		if i == numbersColumn {
			buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(w.numbers))}
			list(w.ends, array.NewInt64Data(array.NewData(arrow.PrimitiveTypes.Int64, len(w.numbers), buffers, nil, 0, 0)))
		}
		list(l.offsets, int32s(l.flat))
	}
	return columns
}

// numbersColumn is how many lists of 32 bits come before the numbers.
const numbersColumn = 5

// Write appends a part. Its queries have higher numbers than the part before.
func (w *PartsWriter) Write(p Part) error {
	if size := p.size(); size > maxBatch/2 {
		return fmt.Errorf("writing %s: %w", w.url, remedy.Errorf(remedy.Do("give a smaller %v", remedy.Flag("reach")),
			"the part of source %d takes %d bytes, more than %d", p.Source, size, maxBatch/2))
	}
	if err := p.check(w.sizes, w.last); err != nil {
		return w.refuse("%v", err)
	}
	if len(w.sources) == 0 {
		w.key = p.Numbers[0]
	}
	w.sources, w.last = append(w.sources, p.Source), p.Numbers[len(p.Numbers)-1]
	w.numbers = append(w.numbers, p.Numbers...)
	w.ends = append(w.ends, int32(len(w.numbers)))
	for i, list := range p.columns() {
		l := &w.lists[i]
		l.flat = append(l.flat, *list...)
		l.offsets = append(l.offsets, int32(len(l.flat)))
	}
	return w.count(p.size())
}

// PartsReader reads a file of parts batch by batch. It may be used concurrently.
type PartsReader struct {
	table *tableReader
	sizes PartSizes
}

// OpenParts opens a file that a PartsWriter wrote for a graph of some size. The context must live until Close.
func OpenParts(ctx context.Context, url string, s PartSizes) (*PartsReader, error) {
	table, err := openTable(ctx, url, func(schema *arrow.Schema) error {
		if err := sameTable(schema, s.schema()); err != nil {
			return err
		}
		entities, _ := schema.Metadata().GetValue(entitiesKey)
		relations, _ := schema.Metadata().GetValue(baseRelationsKey)
		if entities != strconv.Itoa(s.Entities) || relations != strconv.Itoa(s.BaseRelations) {
			return fmt.Errorf("it has parts of a graph of %s entities and %s relations, not of %d and %d", entities, relations, s.Entities, s.BaseRelations)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &PartsReader{table, s}, nil
}

// Close closes the file.
func (r *PartsReader) Close() error { return r.table.close() }

// Batches returns the number of record batches.
func (r *PartsReader) Batches() int { return len(r.table.frame.blocks) }

// Rows returns the number of parts.
func (r *PartsReader) Rows() int64 { return r.table.frame.rows }

// First returns the number of the first query of batch i.
func (r *PartsReader) First(i int) int64 { return r.table.frame.blocks[i].Key }

// Find returns the only batch that may have a query, or -1 where all have later ones. It reads nothing.
func (r *PartsReader) Find(number int64) int {
	return sort.Search(r.Batches(), func(i int) bool { return r.First(i) > number }) - 1
}

// Batch reads the parts of batch i and verifies them. The lists are views of one array.
func (r *PartsReader) Batch(i int) (parts []Part, err error) {
	rows, err := r.table.batch(i)
	if err != nil {
		return nil, err
	}
	err = guard(func() error {
		parts, err = partsOf(rows, r.sizes, r.First(i))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: batch %d: %w", r.table.url, i, err)
	}
	return parts, nil
}

// partsOf returns the parts of a batch, whose first query is known.
func partsOf(rows arrow.Record, s PartSizes, first int64) ([]Part, error) {
	parts := make([]Part, rows.NumRows())
	for i, source := range int32Values(rows, 0) {
		parts[i].Source = source
	}
	// Column c has a list for each part: the numbers of queries are int64, all others int32.
	for c := 1; c < int(rows.NumCols()); c++ {
		lists := rows.Column(c).(*array.List)
		for i := range parts {
			from, to := lists.ValueOffsets(i)
			switch values := lists.ListValues().(type) {
			case *array.Int64:
				parts[i].Numbers = values.Int64Values()[from:to:to]
			case *array.Int32:
				at := c - 1
				if at > numbersColumn {
					at--
				}
				*parts[i].columns()[at] = values.Int32Values()[from:to:to]
			}
		}
	}
	// The parts are checked as they were when they were written.
	last := int64(-1)
	for i := range parts {
		if err := parts[i].check(s, last); err != nil {
			return nil, damaged("%v", err)
		}
		last = parts[i].Numbers[len(parts[i].Numbers)-1]
	}
	if len(parts) > 0 && parts[0].Numbers[0] != first {
		return nil, damaged("it begins with query %d, not with %d", parts[0].Numbers[0], first)
	}
	return parts, nil
}
