package tables

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Answers holds the known answers of each pair (source, relation). Index i of the three slices is one
// pair. Pairs are sorted by (source, relation); each list is sorted and has no duplicates.
type Answers struct {
	Sources, Relations []int32
	Lists              [][]int32
}

// Len returns the number of (source, relation) pairs.
func (a Answers) Len() int { return len(a.Sources) }

// Pairs returns the indexes of the pairs of a source: from first to end-1.
func (a Answers) Pairs(source int32) (first, end int) {
	first, _ = slices.BinarySearch(a.Sources, source)
	for end = first; end < len(a.Sources) && a.Sources[end] == source; {
		end++
	}
	return first, end
}

// Of returns the known answers of a pair, or nil.
func (a Answers) Of(source, relation int32) []int32 {
	first, end := a.Pairs(source)
	if i := slices.Index(a.Relations[first:end], relation); i >= 0 {
		return a.Lists[first+i]
	}
	return nil
}

var (
	listType      = arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)
	answersSchema = newSchema("answers", []arrow.Field{
		int32Field("source"), int32Field("relation"), {Name: "answers", Type: listType},
	})
)

// answersOrder checks what readers of known answers rely on: no negative id, pairs sorted by
// (source, relation), lists sorted, and no duplicates.
type answersOrder struct{ pairs keyOrder }

// next checks that a pair follows the one before, and that its answers are ascending.
func (o *answersOrder) next(source, relation int32, list []int32) error {
	if source < 0 || relation < 0 || len(list) > 0 && list[0] < 0 {
		return fmt.Errorf("the answers of (%d, %d) have a negative id", source, relation)
	}
	if o.pairs.next([3]int32{source, relation}) <= 0 {
		return fmt.Errorf("the answers of (%d, %d) are out of order or duplicates", source, relation)
	}
	for j := 1; j < len(list); j++ {
		if list[j-1] >= list[j] {
			return fmt.Errorf("the answers of (%d, %d) are not sorted or have duplicates: %d before %d", source, relation, list[j-1], list[j])
		}
	}
	return nil
}

// MostAnswers is the largest number of answers of one pair: its list must fit into a batch.
const MostAnswers = maxBatch / 8

// AnswersWriter writes known answers in their order. It holds one batch and its encoding in memory;
// only a long list of answers makes a batch large.
type AnswersWriter struct {
	*tableWriter
	sources, relations, flat, offsets []int32 // of the pending batch
	order                             answersOrder
}

// CreateAnswers begins a file of known answers.
func CreateAnswers(ctx context.Context, url string) (w *AnswersWriter, err error) {
	w = &AnswersWriter{offsets: []int32{0}}
	w.tableWriter, err = createTable(ctx, url, answersSchema, w.columns)
	return w, err
}

// columns returns the pending rows as a batch and begins the next one.
func (w *AnswersWriter) columns() []arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(w.offsets))}
	lists := array.NewListData(array.NewData(listType, len(w.sources), buffers, []arrow.ArrayData{int32s(w.flat).Data()}, 0, 0))
	columns := []arrow.Array{int32s(w.sources), int32s(w.relations), lists}
	// Arrow has encoded them before the next pair is added.
	w.sources, w.relations, w.flat, w.offsets = w.sources[:0], w.relations[:0], w.flat[:0], w.offsets[:1]
	return columns
}

// Write appends the answers of a pair. Pairs or lists out of order are an error, and so is a
// list of more than MostAnswers.
func (w *AnswersWriter) Write(source, relation int32, list []int32) error {
	if len(list) > MostAnswers {
		return w.refuse("(%d, %d) has %d known answers, more than the %d that one query may have; leave some of its facts out", source, relation, len(list),
			MostAnswers)
	}
	if err := w.order.next(source, relation, list); err != nil {
		return w.refuse("%v", err)
	}
	w.sources, w.relations = append(w.sources, source), append(w.relations, relation)
	w.flat = append(w.flat, list...)
	w.offsets = append(w.offsets, int32(len(w.flat)))
	return w.count(4 * len(list))
}

// append copies the pairs of a batch. Their lists share one array.
func (a *Answers) append(rows arrow.Record) {
	a.Sources = append(a.Sources, int32Values(rows, 0)...)
	a.Relations = append(a.Relations, int32Values(rows, 1)...)
	lists := rows.Column(2).(*array.List)
	flat := append([]int32{}, lists.ListValues().(*array.Int32).Int32Values()...)
	for i := range lists.Len() {
		from, to := lists.ValueOffsets(i)
		a.Lists = append(a.Lists, flat[from:to:to])
	}
}

// ReadAnswers reads a file of known answers and verifies its order.
func ReadAnswers(ctx context.Context, url string) (Answers, error) {
	var a Answers
	start := func(n int64) { a = Answers{make([]int32, 0, n), make([]int32, 0, n), make([][]int32, 0, n)} }
	err := readTable(ctx, url, answersSchema, start, func(rows arrow.Record) error {
		a.append(rows)
		return nil
	})
	if err != nil {
		return Answers{}, err
	}
	if err := a.check(); err != nil {
		return Answers{}, fmt.Errorf("reading %s: %w", url, err)
	}
	return a, nil
}

// ReadAnswersOf reads the known answers of some sources, ascending. It holds one batch beside them, and reads the
// batches between the first and the last of the sources.
func ReadAnswersOf(ctx context.Context, url string, sources []int32) (a Answers, err error) {
	if len(sources) == 0 {
		return a, nil
	}
	r, err := openTable(ctx, url, func(got *arrow.Schema) error { return sameTable(got, answersSchema) })
	if err != nil {
		return a, err
	}
	defer r.close()
	var failed error
	// Batches are in the order of sources: a binary search finds the first one.
	first := sort.Search(len(r.frame.blocks), func(i int) bool {
		rows, err := r.batch(i)
		if failed = cmp.Or(failed, err); failed != nil || rows.NumRows() == 0 {
			return false
		}
		batch := int32Values(rows, 0)
		return batch[len(batch)-1] >= sources[0]
	})
	// All further batches are read up to the last source.
	for i := first; i < len(r.frame.blocks) && failed == nil; i++ {
		if failed = ctx.Err(); failed != nil {
			break
		}
		var batch Answers
		rows, err := r.batch(i)
		if err == nil {
			err = guard(func() error { batch.append(rows); return nil })
		}
		if err != nil {
			failed = err
			break
		}
		if batch.Len() > 0 && batch.Sources[0] > sources[len(sources)-1] {
			break
		}
		a.appendPairs(batch, sources)
	}
	if failed == nil {
		failed = a.check()
	}
	if failed != nil {
		return Answers{}, fmt.Errorf("reading %s: %w", url, failed)
	}
	return a, nil
}

func (a *Answers) appendPairs(from Answers, sources []int32) {
	for i, source := range from.Sources {
		if _, found := slices.BinarySearch(sources, source); found {
			a.Sources, a.Relations, a.Lists = append(a.Sources, source), append(a.Relations, from.Relations[i]), append(a.Lists, from.Lists[i])
		}
	}
}

// check checks the order of pairs and lists.
func (a Answers) check() error {
	var order answersOrder
	for i, list := range a.Lists {
		if err := order.next(a.Sources[i], a.Relations[i], list); err != nil {
			return err
		}
	}
	return nil
}
