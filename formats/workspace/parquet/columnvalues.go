package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
)

// rowsPerBatch is how many rows of a column are decoded at a time, at most.
const rowsPerBatch = 1 << 10

// ColumnValue is the type of a column's values. Integers without a sign are read as those with.
type ColumnValue interface {
	bool | int32 | int64 | float32 | float64 | string
}

// ColumnValues reads the values of a column in a row group.
type ColumnValues[T ColumnValue] struct {
	chunk
	left       int64 // rows that no page was read of
	rows       int   // of the page that are left
	nullable   bool
	levels     *runs           // of the page, 0 for null and 1 for a value, if nullable
	decode     func([]T) error // decodes the next values of the page
	dictionary []T
	last       string // of texts that are stored by what they add to the one before
	batch      [rowsPerBatch]T
	nulls      [rowsPerBatch]bool
	numbers    [rowsPerBatch]uint32 // levels, and then indices of the dictionary
}

// ColumnOf returns the values of a column in a row group, both counted from 0. It returns an error if they are not of
// type T, or are lists or in groups that may be null.
func ColumnOf[T ColumnValue](f *ColumnFile, group, column int) (*ColumnValues[T], error) {
	c := f.Schema.Column(column)
	types := map[parquet.Type]any{
		parquet.Types.Boolean: false, parquet.Types.Int32: int32(0), parquet.Types.Int64: int64(0),
		parquet.Types.Float: float32(0), parquet.Types.Double: float64(0), parquet.Types.ByteArray: "",
	}
	if _, ok := types[c.PhysicalType()].(T); !ok || c.MaxRepetitionLevel() > 0 || c.MaxDefinitionLevel() > 1 {
		return nil, fmt.Errorf("column %q has values of type %s, or is nested", c.Name(), c.PhysicalType())
	}
	pages, err := f.chunk(group, column)
	if err != nil {
		return nil, err
	}
	return &ColumnValues[T]{chunk: pages, left: f.RowGroup(group).NumRows(), nullable: c.MaxDefinitionLevel() == 1}, nil
}

// Next returns the values of the next rows, at least one, and which of them are null. nulls is nil for a column
// without. Both are valid until the next call. It returns an error if there are no more rows.
func (v *ColumnValues[T]) Next() (values []T, nulls []bool, err error) {
	for v.rows == 0 {
		if v.left == 0 {
			return nil, nil, errShort
		}
		if err := v.nextPage(); err != nil {
			return nil, nil, err
		}
	}
	n := min(v.rows, rowsPerBatch)
	v.rows -= n
	values = v.batch[:n]
	if !v.nullable {
		return values, nil, v.decode(values)
	}
	nulls, present := v.nulls[:n], 0
	levels := v.numbers[:n]
	if err := v.levels.read(levels); err != nil {
		return nil, nil, err
	}
	for row, level := range levels {
		nulls[row] = level == 0
		if level > 0 {
			present++
		}
	}
	if err := v.decode(values[:present]); err != nil {
		return nil, nil, err
	}
	for row := n - 1; row > present-1 && present > 0; row-- { // move values to their rows
		if !nulls[row] {
			present--
			values[row] = values[present]
		}
	}
	return values, nulls, nil
}

func (v *ColumnValues[T]) nextPage() error {
	p, err := v.next()
	if err != nil {
		return err
	}
	switch n := p.numbers; p.kind {
	case dictionaryPage:
		return v.setDictionary(p)
	case dataPage:
		content, err := unpack(v.codec, p.content, p.length)
		if err != nil {
			return err
		}
		if v.nullable {
			if parquet.Encoding(n["5.3"]) != parquet.Encodings.RLE {
				return errors.New("which values are null is not encoded as RLE")
			}
			var levels []byte
			if levels, content, err = prefixed(content); err != nil {
				return err
			}
			v.levels = &runs{data: levels, width: 1}
		}
		return v.begin(n["5.1"], parquet.Encoding(n["5.2"]), content)
	case dataPageV2:
		nulls, lists := int(n["8.5"]), int(n["8.6"])
		if nulls < 0 || lists < 0 || nulls+lists > min(p.length, len(p.content)) {
			return errShort
		}
		v.levels = &runs{data: p.content[lists : lists+nulls], width: 1}
		content := p.content[lists+nulls:]
		if compressed, declared := n["8.7"]; compressed != 0 || !declared {
			if content, err = unpack(v.codec, content, p.length-nulls-lists); err != nil {
				return err
			}
		}
		return v.begin(n["8.1"], parquet.Encoding(n["8.4"]), content)
	}
	return nil // another kind of page, such as an index
}

// prefixed separates data from what follows. Its length, 4 bytes, precedes it.
func prefixed(data []byte) (content, rest []byte, err error) {
	if len(data) < 4 || int64(len(data)-4) < int64(binary.LittleEndian.Uint32(data)) {
		return nil, nil, errShort
	}
	end := 4 + int(binary.LittleEndian.Uint32(data))
	return data[4:end], data[end:], nil
}

func (v *ColumnValues[T]) setDictionary(p page) error {
	n, encoding := p.numbers["7.1"], parquet.Encoding(p.numbers["7.2"])
	if v.dictionary != nil || n < 0 || encoding != parquet.Encodings.Plain && encoding != parquet.Encodings.PlainDict {
		return fmt.Errorf("a second dictionary, or one of %d values encoded as %s", n, encoding)
	}
	content, err := unpack(v.codec, p.content, p.length)
	if err != nil {
		return err
	}
	if n > maxValues || int(n) > len(content)/4 { // a number or text has four bytes at least
		return errShort
	}
	v.dictionary = make([]T, n)
	return plain[T](content)(v.dictionary)
}

// begin begins the page of some rows whose values are encoded as content.
func (v *ColumnValues[T]) begin(rows int32, encoding parquet.Encoding, content []byte) (err error) {
	if rows < 0 || int64(rows) > v.left {
		return fmt.Errorf("a page has %d rows, its row group has %d more", rows, v.left)
	}
	v.rows = int(rows)
	v.left -= int64(rows)
	v.decode, err = v.decoder(encoding, content)
	return err
}

// decoder returns a function that decodes the next values of content.
func (v *ColumnValues[T]) decoder(encoding parquet.Encoding, content []byte) (func([]T) error, error) {
	var decode any
	var err error
	switch encoding {
	case parquet.Encodings.Plain:
		return plain[T](content), nil
	case parquet.Encodings.RLEDict, parquet.Encodings.PlainDict:
		return v.indexed(content), nil
	case parquet.Encodings.DeltaBinaryPacked:
		if _, ok := any(v.dictionary).([]int32); ok {
			decode, err = differences[int32](content)
		} else {
			decode, err = differences[int64](content)
		}
	case parquet.Encodings.DeltaLengthByteArray:
		decode, err = lengthsFirst(content)
	case parquet.Encodings.DeltaByteArray:
		decode, err = suffixes(content, &v.last)
	}
	if err != nil {
		return nil, err
	}
	next, ok := decode.(func([]T) error)
	if !ok {
		return nil, fmt.Errorf("values are encoded as %s, which cannot be read; write the file again with plain values or dictionaries", encoding)
	}
	return next, nil
}

// indexed decodes indices of the dictionary.
func (v *ColumnValues[T]) indexed(content []byte) func([]T) error {
	indices := runs{}
	if len(content) > 0 { // it is empty if all values are null
		indices = runs{data: content[1:], width: int(content[0])}
	}
	return func(out []T) error {
		numbers := v.numbers[:len(out)]
		if err := indices.read(numbers); err != nil {
			return err
		}
		for i, n := range numbers {
			if int(n) >= len(v.dictionary) {
				return fmt.Errorf("entry %d of a dictionary of %d", n, len(v.dictionary))
			}
			out[i] = v.dictionary[n]
		}
		return nil
	}
}
