package externalsort

import (
	"context"
	"iter"
	"slices"
)

// Sorter sorts rows beyond memory: whenever they fill its buffer, it writes them to a spill file, in order and
// without repetitions.
type Sorter struct {
	// Spills are the spill files that are written.
	Spills []Spill

	url           func(file int) string
	rows, scratch []Row
}

// NewSorter returns a Sorter whose buffer takes at most a number of bytes, and at least two rows. url returns the
// location of a spill file by its number.
func NewSorter(bytes int64, url func(file int) string) *Sorter {
	rows := RowsIn(bytes)
	return &Sorter{url: url, rows: Buffer(rows), scratch: Buffer(rows)}
}

// RowsIn returns how many rows can be sorted at a time in a number of bytes, at least two.
func RowsIn(bytes int64) int { return int(max(2, bytes/(2*RowBytes))) }

// Close returns the buffers.
func (s *Sorter) Close() { Return(s.rows, s.scratch) }

// Add adds a row.
func (s *Sorter) Add(ctx context.Context, r Row) error {
	if len(s.rows) == cap(s.rows) {
		if err := s.Flush(ctx); err != nil {
			return err
		}
	}
	s.rows = append(s.rows, r)
	return nil
}

// Flush writes the rows that no spill file has yet.
func (s *Sorter) Flush(ctx context.Context) error {
	if len(s.rows) == 0 {
		return nil
	}
	s.rows, s.scratch = Sort(s.rows, s.scratch)
	spill, err := Write(ctx, s.url(len(s.Spills)), Rows, slices.Values(slices.Compact(s.rows)))
	if err != nil {
		return err
	}
	s.Spills, s.rows = append(s.Spills, spill), s.rows[:0]
	return nil
}

// Write writes sorted records to a spill file.
func Write[T any](ctx context.Context, url string, k Kind[T], sorted iter.Seq[T]) (Spill, error) {
	w, err := Create(ctx, url, k)
	if err != nil {
		return Spill{}, err
	}
	defer w.Abort()
	for record := range sorted {
		if err := w.Write(record); err != nil {
			return Spill{}, err
		}
	}
	spill := w.Cut()
	return spill, w.Commit()
}
