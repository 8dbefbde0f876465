package externalsort

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// FanIn is how many runs are merged at a time: each takes a buffer of 64 KiB.
const FanIn = 256

// reader is a run that is being read: T is a Row, or the bytes of a name.
type reader[T any] interface {
	Next() (T, bool, error)
	Close() error
}

// cursor is a reader and the value that it is at.
type cursor[T any] struct {
	reader reader[T]
	value  T
	tag    int
}

// merger is a heap of cursors, the one with the least value on top.
type merger[T any] struct {
	heap []cursor[T]
	less func(a, b T) bool
}

func (m *merger[T]) before(i, j int) bool {
	if m.less(m.heap[i].value, m.heap[j].value) {
		return true
	}
	return m.heap[i].tag < m.heap[j].tag && !m.less(m.heap[j].value, m.heap[i].value)
}

// down moves the i-th cursor to its place among those below.
func (m *merger[T]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			return
		}
		if child+1 < len(m.heap) && m.before(child+1, child) {
			child++
		}
		if !m.before(child, i) {
			return
		}
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i = child
	}
}

// merge calls each for the values of all readers in order, equal ones in the order of their tags.
func merge[T any](ctx context.Context, readers []reader[T], tags []int, less func(a, b T) bool, each func(value T, tag int) error) error {
	m := merger[T]{less: less}
	for i, r := range readers {
		value, found, err := r.Next()
		if err != nil {
			return err
		}
		if found {
			m.heap = append(m.heap, cursor[T]{r, value, tags[i]})
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for n := 0; len(m.heap) > 0; n++ {
		if n%(1<<16) == 0 {
			if err := errors.Join(ctx.Err(), Going()); err != nil {
				return err
			}
		}
		top := &m.heap[0]
		if err := each(top.value, top.tag); err != nil {
			return err
		}
		value, found, err := top.reader.Next()
		if err != nil {
			return err
		}
		if found {
			top.value = value
		} else {
			m.heap[0] = m.heap[len(m.heap)-1]
			m.heap = m.heap[:len(m.heap)-1]
		}
		m.down(0)
	}
	return nil
}

// open opens runs, all or none.
func open[T any](ctx context.Context, runs []Run, one func(context.Context, Run) (reader[T], error)) (readers []reader[T], tags []int, closeAll func(), err error) {
	closeAll = func() {
		for _, r := range readers {
			r.Close()
		}
	}
	for _, run := range runs {
		r, err := one(ctx, run)
		if err != nil {
			closeAll()
			return nil, nil, nil, err
		}
		readers, tags = append(readers, r), append(tags, run.Tag)
	}
	return readers, tags, closeAll, nil
}

func openRows(ctx context.Context, run Run) (reader[Row], error)     { return OpenRows(ctx, run) }
func openNames(ctx context.Context, run Run) (reader[[]byte], error) { return OpenNames(ctx, run) }

// lessName is the byte order of names.
func lessName(a, b []byte) bool { return bytes.Compare(a, b) < 0 }

// MergeRows calls each for the rows of all runs in order, equal ones in the order of their tags.
// More than FanIn runs are first merged to fewer, in files whose names begin with spill.
func MergeRows(ctx context.Context, runs []Run, spill string, each func(r Row, tag int) error) error {
	reduced, err := reduce(runs, func(few []Run, step int) (Run, error) {
		w, err := CreateRows(ctx, fmt.Sprintf("%s-merged-%05d", spill, step))
		if err != nil {
			return Run{}, err
		}
		defer w.Abort()
		if err := mergeRows(ctx, few, func(r Row, _ int) error { return w.Write(r) }); err != nil {
			return Run{}, err
		}
		return w.Cut(), w.Commit()
	})
	if err != nil {
		return err
	}
	return mergeRows(ctx, reduced, each)
}

func mergeRows(ctx context.Context, runs []Run, each func(r Row, tag int) error) error {
	readers, tags, closeAll, err := open(ctx, runs, openRows)
	if err != nil {
		return err
	}
	defer closeAll()
	return merge(ctx, readers, tags, Row.Less, each)
}

// MergeNames calls each for the distinct names of all runs in order. The bytes are a view.
func MergeNames(ctx context.Context, runs []Run, spill string, each func(name []byte) error) error {
	reduced, err := reduce(runs, func(few []Run, step int) (Run, error) {
		w, err := CreateNames(ctx, fmt.Sprintf("%s-merged-%05d", spill, step))
		if err != nil {
			return Run{}, err
		}
		defer w.Abort()
		if err := mergeNames(ctx, few, w.Write); err != nil {
			return Run{}, err
		}
		return w.Commit()
	})
	if err != nil {
		return err
	}
	return mergeNames(ctx, reduced, each)
}

func mergeNames(ctx context.Context, runs []Run, each func(name []byte) error) error {
	readers, tags, closeAll, err := open(ctx, runs, openNames)
	if err != nil {
		return err
	}
	defer closeAll()
	var last []byte
	first := true
	return merge(ctx, readers, tags, lessName, func(name []byte, _ int) error {
		if !first && bytes.Equal(name, last) {
			return nil
		}
		first = false
		last = append(last[:0], name...)
		return each(name)
	})
}

// reduce merges runs of equal tags, FanIn at a time, until no more than that are left or none of
// them can be joined.
func reduce(runs []Run, join func(few []Run, step int) (Run, error)) ([]Run, error) {
	for step := 0; len(runs) > FanIn; {
		byTag := map[int][]Run{}
		most := 0
		for _, r := range runs {
			byTag[r.Tag] = append(byTag[r.Tag], r)
			if len(byTag[r.Tag]) > len(byTag[most]) {
				most = r.Tag
			}
		}
		few := byTag[most]
		if len(few) < 2 {
			return runs, nil
		}
		few = few[:min(len(few), FanIn)]
		joined, err := join(few, step)
		if err != nil {
			return nil, err
		}
		step++
		joined.Tag = most
		taken := map[Run]bool{}
		for _, r := range few {
			taken[r] = true
		}
		left := []Run{}
		for _, r := range runs {
			if !taken[r] {
				left = append(left, r)
			}
		}
		runs = append(left, joined)
	}
	return runs, nil
}
