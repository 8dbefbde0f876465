package tables

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Answers are the known answers of each (source, relation), a position of the three slices
// each, sorted by (source, relation); each list is sorted, without repeats.
type Answers struct {
	Sources, Relations []int32
	Lists              [][]int32
}

// Len is the number of (source, relation) pairs.
func (a Answers) Len() int { return len(a.Sources) }

// Of returns the known answers of a pair, or nil.
func (a Answers) Of(source, relation int32) []int32 {
	from, found := slices.BinarySearch(a.Sources, source)
	if !found {
		return nil
	}
	for i := from; i < len(a.Sources) && a.Sources[i] == source; i++ {
		if a.Relations[i] == relation {
			return a.Lists[i]
		}
	}
	return nil
}

var (
	listType      = arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)
	answersSchema = newSchema("answers", []arrow.Field{
		int32Field("source"), int32Field("relation"), {Name: "answers", Type: listType},
	})
)

func (a Answers) check() error {
	if len(a.Relations) != len(a.Sources) || len(a.Lists) != len(a.Sources) {
		return fmt.Errorf("%d sources, %d relations and %d lists are no answers", len(a.Sources), len(a.Relations), len(a.Lists))
	}
	for i, list := range a.Lists {
		if a.Sources[i] < 0 || a.Relations[i] < 0 || len(list) > 0 && list[0] < 0 {
			return fmt.Errorf("the answers of (%d, %d) have a negative id", a.Sources[i], a.Relations[i])
		}
		if i > 0 && cmp.Or(cmp.Compare(a.Sources[i-1], a.Sources[i]), cmp.Compare(a.Relations[i-1], a.Relations[i])) >= 0 {
			return fmt.Errorf("the answers of (%d, %d) are out of order, or stand twice", a.Sources[i], a.Relations[i])
		}
		for j := 1; j < len(list); j++ {
			if list[j-1] >= list[j] {
				return fmt.Errorf("the answers of (%d, %d) are not sorted, or one stands twice: %d before %d", a.Sources[i], a.Relations[i], list[j-1], list[j])
			}
		}
	}
	return nil
}

func (a Answers) columns(from, to int) []arrow.Array {
	offsets := make([]int32, 1, to-from+1)
	var flat []int32
	for _, list := range a.Lists[from:to] {
		flat = append(flat, list...)
		offsets = append(offsets, int32(len(flat)))
	}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))}
	lists := array.NewListData(array.NewData(listType, to-from, buffers, []arrow.ArrayData{int32s(flat).Data()}, 0, 0))
	return []arrow.Array{int32s(a.Sources[from:to]), int32s(a.Relations[from:to]), lists}
}

// append copies a batch; its lists share one array.
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

// WriteAnswers writes known answers. Pairs or lists out of order are an error.
func WriteAnswers(ctx context.Context, url string, a Answers) error {
	if err := a.check(); err != nil {
		return fmt.Errorf("writing %s: %w", url, err)
	}
	return writeTable(ctx, url, answersSchema, a.Len(), func(i int) int { return 4 * len(a.Lists[i]) }, a.columns)
}

// ReadAnswers reads what WriteAnswers wrote, and checks its order again.
func ReadAnswers(ctx context.Context, url string) (Answers, error) {
	var a Answers
	start := func(n int) { a = Answers{make([]int32, 0, n), make([]int32, 0, n), make([][]int32, 0, n)} }
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
