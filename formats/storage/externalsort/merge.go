package externalsort

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
)

// fanIn is how many files are merged at a time. Each takes a buffer of 64 KiB.
const fanIn = 256

// Merge calls each with the records of all spills in order, equal ones in the order of their tags; names as views. If
// there are more than fanIn spills, some are merged to new files first, whose names begin with prefix: fanIn of the
// most frequent tag, until fanIn are left, or no two have the same tag.
func Merge[T any](ctx context.Context, k Kind[T], spills []Spill, prefix string, each func(record T, tag int) error) error {
	for step := 0; len(spills) > fanIn; step++ {
		byTag := map[int][]Spill{}
		tag := spills[0].Tag
		for _, s := range spills {
			byTag[s.Tag] = append(byTag[s.Tag], s)
			if len(byTag[s.Tag]) > len(byTag[tag]) {
				tag = s.Tag
			}
		}
		few := byTag[tag][:min(len(byTag[tag]), fanIn)]
		if len(few) < 2 {
			break
		}
		merged, err := mergeToFile(ctx, k, few, fmt.Sprintf("%s-merged-%05d", prefix, step))
		if err != nil {
			return err
		}
		spills = append(slices.DeleteFunc(slices.Clone(spills), func(s Spill) bool { return slices.Contains(few, s) }), merged)
	}
	return merge(ctx, k, spills, each)
}

// mergeToFile merges spills of one tag to a new file.
func mergeToFile[T any](ctx context.Context, k Kind[T], spills []Spill, url string) (Spill, error) {
	w, err := Create(ctx, url, k)
	if err != nil {
		return Spill{}, err
	}
	defer w.Abort()
	if err := merge(ctx, k, spills, func(record T, _ int) error { return w.Write(record) }); err != nil {
		return Spill{}, err
	}
	merged := w.Cut()
	merged.Tag = spills[0].Tag
	return merged, w.Commit()
}

// cursor is a reader and its current record.
type cursor[T any] struct {
	*reader[T]
	record T
}

// cursors is a heap of cursors: the first has the least record, and the least tag among equal ones.
type cursors[T any] struct {
	list    []cursor[T]
	compare func(a, b T) int
}

func (c *cursors[T]) Len() int      { return len(c.list) }
func (c *cursors[T]) Swap(i, j int) { c.list[i], c.list[j] = c.list[j], c.list[i] }
func (c *cursors[T]) Push(x any)    { c.list = append(c.list, x.(cursor[T])) }
func (c *cursors[T]) Pop() any {
	last := c.list[len(c.list)-1]
	c.list = c.list[:len(c.list)-1]
	return last
}
func (c *cursors[T]) Less(i, j int) bool {
	a, b := &c.list[i], &c.list[j]
	return cmp.Or(c.compare(a.record, b.record), cmp.Compare(a.spill.Tag, b.spill.Tag)) < 0
}

// merge calls each with the records of all spills in order.
func merge[T any](ctx context.Context, k Kind[T], spills []Spill, each func(record T, tag int) error) error {
	if k.distinct != nil {
		each = k.distinct(each)
	}
	readers := cursors[T]{compare: k.compare}
	// Every spill is open at its first record.
	for _, s := range spills {
		r, err := openSpill(ctx, s, k)
		if err != nil {
			return err
		}
		defer r.file.Close()
		record, found, err := r.next()
		if err != nil {
			return err
		}
		if found {
			readers.list = append(readers.list, cursor[T]{r, record})
		}
	}
	heap.Init(&readers)
	// The least record leaves the heap, and the next of its spill takes its place.
	for n := 0; readers.Len() > 0; n++ {
		if n%(1<<16) == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		first := &readers.list[0]
		if err := each(first.record, first.spill.Tag); err != nil {
			return err
		}
		record, found, err := first.next()
		if err != nil {
			return err
		}
		if found {
			first.record = record
			heap.Fix(&readers, 0)
		} else {
			heap.Pop(&readers)
		}
	}
	return nil
}
