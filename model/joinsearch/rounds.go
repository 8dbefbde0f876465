package joinsearch

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"tagnet/formats/reach"
	"tagnet/formats/tables"
)

// Elements iterates over the elements of a key: it sets the next one and reports whether there is one.
type Elements = func(*[]byte) bool

// Seed starts a search at each source of a block: it emits the first frontier, by the key of a block and a range, and an empty state for every range.
func (l Layout) Seed(block int, sources []int32, emitFrontier, emitState func(key int, element []byte)) error {
	for r := range l.Ranges {
		from, to := l.Range(r)
		key := l.Key(block, r)
		seeds := newFrontier(from, to, l.Words)
		for i, source := range sources {
			if source >= from && source < to {
				seeds.words(source)[i/SourcesPerWord] |= 1 << (i % SourcesPerWord)
			}
		}
		if err := seeds.encode(func(element []byte) { emitFrontier(key, element) }); err != nil {
			return err
		}
		emitState(key, []byte{})
	}
	return nil
}

// Round is one round of the join, for one block of sources and one range of entities: it adds to the state what is reached in a hop for the first
// time, and emits the new state and the frontier of the next hop.
func (l Layout) Round(ctx context.Context, key, hop int, frontiers, states Elements, emitFrontier, emitState func(key int, element []byte)) error {
	block, r := l.SplitKey(key)
	fresh, err := l.readFrontier(r, frontiers)
	if err != nil {
		return err
	}
	state := &stateWriter{send: func(element []byte) { emitState(key, element) }}
	if err := advance(fresh, uint8(hop), states, state.add); err != nil {
		return err
	}
	if err := state.close(); err != nil {
		return err
	}
	return l.expand(ctx, block, r, fresh, emitFrontier)
}

// readFrontier merges the elements of a range's frontier.
func (l Layout) readFrontier(r int, elements Elements) (*frontier, error) {
	from, to := l.Range(r)
	reached := newFrontier(from, to, l.Words)
	var element []byte
	for elements(&element) {
		if err := reached.add(element); err != nil {
			return nil, err
		}
	}
	return reached, nil
}

// RangeRows is the distances of a span's sources to one range of entities. It is an element of
// pipelines.
type RangeRows struct {
	// Range is the range's number.
	Range int
	// Rows is a batch as tables.EncodeDistances makes it, whose sources are positions in the span.
	// Sources that reach nothing in the range have no row.
	Rows []byte
}

// Transpose is the last round of the join. It emits no frontier, and turns the state into rows by
// source, keyed by the first position of their span.
func (l Layout) Transpose(key, hop int, frontiers, states Elements, emit func(from int, rows RangeRows)) error {
	block, r := l.SplitKey(key)
	fresh, err := l.readFrontier(r, frontiers)
	if err != nil {
		return err
	}
	from, to := l.Range(r)
	rows := make([][]byte, l.BlockSources()) // by source, nil if nothing is reached
	err = advance(fresh, uint8(hop), states, func(entity int32, word uint8, h *hops) error {
		column := int(entity - from)
		shift := 4 * (column & 1)
		for sources := h.reached(); sources != 0; sources &= sources - 1 {
			i := bits.TrailingZeros64(sources)
			row := &rows[int(word)*SourcesPerWord+i]
			if *row == nil {
				*row = slices.Repeat([]byte{0xff}, tables.PackedLen(int(to-from))) // all unreached
			}
			(*row)[column/2] = (*row)[column/2]&^(15<<shift) | h.get(i)<<shift
		}
		return nil
	})
	if err != nil {
		return err
	}
	all := l.Block(block)
	for _, s := range l.Spans(all) {
		if err := emitRows(s, r, int(to-from), rows[s.From-all.From:s.To-all.From], emit); err != nil {
			return err
		}
	}
	return nil
}

// emitRows emits the rows of a span that reach something.
func emitRows(s Span, entityRange, entities int, rows [][]byte, emit func(int, RangeRows)) error {
	var reaching []tables.DistanceRow
	for i, row := range rows {
		if row != nil {
			reaching = append(reaching, tables.DistanceRow{Source: int32(i), Packed: row})
		}
	}
	if len(reaching) == 0 {
		return nil
	}
	encoded, err := tables.EncodeDistances(entities, reaching)
	if err != nil {
		return err
	}
	emit(s.From, RangeRows{Range: entityRange, Rows: encoded})
	return nil
}

// Assemble returns the distances of the sources of a span to all entities, [sources, V], from the rows of all ranges.
func (l Layout) Assemble(sources int, ranges func(*RangeRows) bool) ([]uint8, error) {
	all := slices.Repeat([]uint8{reach.Unreached}, sources*l.Entities)
	var r RangeRows
	for ranges(&r) {
		first, last := l.Range(r.Range)
		rows, err := tables.DecodeDistances(r.Rows, int(last-first))
		if err != nil {
			return nil, err
		}
		for _, found := range rows {
			if int(found.Source) >= sources {
				return nil, fmt.Errorf("range %d has row %d of %d", r.Range, found.Source, sources)
			}
			row := all[int(found.Source)*l.Entities:]
			tables.Unpack(found.Packed, row[first:last])
		}
	}
	return all, nil
}
