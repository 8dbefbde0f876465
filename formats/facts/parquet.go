package facts

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"tagnet/formats/storage"
	"tagnet/formats/triples"
)

const (
	// rowsPerBatch is how many rows of a column are decoded at a time.
	rowsPerBatch = 1 << 10
	// maxPage bounds the memory that a page may ask for; writers make pages of about a MiB.
	maxPage = 256 << 20
)

// pages is the allocator of pages. It panics where a file declares one that is too large.
type pages struct{ memory.Allocator }

func (p pages) Allocate(size int) []byte {
	checkPage(size)
	return p.Allocator.Allocate(size)
}

func (p pages) Reallocate(size int, b []byte) []byte {
	checkPage(size)
	return p.Allocator.Reallocate(size, b)
}

func checkPage(size int) {
	if size > maxPage {
		panic(fmt.Sprintf("a page of %d bytes, the limit is %d", size, maxPage))
	}
}

// readParquet reads the three columns of a Parquet file. Rows are counted from 1. It uses the columns' readers: those
// of whole tables decode in goroutines of their own, where a damaged file ends the program.
func readParquet(ctx context.Context, url string, r storage.RandomReader, o Options, each Each, bad Bad) error {
	t := parquetTable{url: url, each: each, bad: bad}
	err := t.guard(func() error { return t.read(ctx, r, o) })
	var lacking wanted
	switch {
	case t.own != nil: // of each, bad or the context: returned as it is
		return t.own
	case errors.As(err, &lacking):
		return fmt.Errorf("%s: %w", url, lacking.error)
	case err != nil:
		return fmt.Errorf("reading %s: not a Parquet file, or damaged (%v); write it again", url, err)
	}
	return nil
}

type parquetTable struct {
	url  string
	each Each
	bad  Bad
	own  error
	row  int
}

// guard turns a panic into an error. The parquet package panics on files whose parts contradict each other.
func (t *parquetTable) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

// wanted is the error of a table that can be read, but does not have what is wanted.
type wanted struct{ error }

func (t *parquetTable) read(ctx context.Context, r storage.RandomReader, o Options) error {
	table, err := file.NewParquetReader(r, file.WithReadProps(parquet.NewReaderProperties(pages{memory.DefaultAllocator})))
	if err != nil {
		return err
	}
	defer table.Close()
	root := table.MetaData().Schema.Root()
	names := make([]string, root.NumFields())
	for i := range names {
		names[i] = root.Field(i).Name()
	}
	at, err := choose(o.Columns, names)
	if err != nil {
		return wanted{err}
	}
	var columns [3]int
	for i, position := range at {
		columns[i] = table.MetaData().Schema.ColumnIndexByName(names[position])
		if columns[i] < 0 || !holdsNames(table.MetaData().Schema.Column(columns[i])) {
			return wanted{fmt.Errorf("column %q has the type %s; names are strings or integers: choose others with --columns", names[position], typeOf(root.Field(position)))}
		}
	}
	if table.NumRows() == 0 {
		return wanted{fmt.Errorf("%w; it needs rows of head, relation and tail", triples.ErrEmpty)}
	}
	for group := range table.NumRowGroups() {
		if err := t.group(ctx, table.RowGroup(group), columns); err != nil || t.own != nil {
			return err
		}
	}
	return nil
}

// group reads the rows of a row group.
func (t *parquetTable) group(ctx context.Context, group *file.RowGroupReader, columns [3]int) error {
	var cursors [3]*cursor
	for i, column := range columns {
		chunk, err := group.MetaData().ColumnChunk(column)
		if err != nil {
			return err
		}
		if _, err := compress.GetCodec(chunk.Compression()); err != nil {
			return wanted{fmt.Errorf("a column is compressed with %s, which cannot be read; write the file again with zstd, snappy or gzip", chunk.Compression())}
		}
		reader, err := group.Column(column)
		if err != nil {
			return err
		}
		cursors[i] = &cursor{
			reader: reader, present: reader.Descriptor().MaxDefinitionLevel(), levels: make([]int16, rowsPerBatch), unsigned: isUnsigned(reader.Descriptor()),
		}
	}
	for range group.NumRows() {
		if t.row++; t.row%rowsPerBatch == 0 {
			if t.own = context.Cause(ctx); t.own != nil {
				return nil
			}
		}
		var names [3]string
		null := -1
		for i, c := range cursors {
			name, found, err := c.next()
			if err != nil {
				return err
			}
			names[i] = name
			if !found {
				null = i
			}
		}
		if null >= 0 {
			t.own = t.bad(triples.BadLine{File: t.url, Line: t.row, Reason: "the " + [3]string{"head", "relation", "tail"}[null] + " of this row is null", Remedy: "leave such rows out"})
		} else {
			t.own = t.each(t.row, Fact{names[0], names[1], names[2]})
		}
		if t.own != nil {
			return nil
		}
	}
	return nil
}

// cursor reads one column of a row group, value by value.
type cursor struct {
	reader  file.ColumnChunkReader
	present int16 // the definition level of a value that is not null
	// unsigned says that integers are without a sign, such as hashes.
	unsigned bool
	levels   []int16
	rows     int // of the batch, of which read have been returned
	read     int
	texts    []string // those of the batch that are not null
}

// next returns the next value, or false if it is null.
func (c *cursor) next() (text string, found bool, err error) {
	if c.read == c.rows {
		if err := c.fill(); err != nil {
			return "", false, err
		}
	}
	row := c.read
	c.read++
	if c.present > 0 && c.levels[row] < c.present {
		return "", false, nil
	}
	if len(c.texts) == 0 {
		return "", false, errors.New("a column has fewer values than rows")
	}
	text, c.texts = c.texts[0], c.texts[1:]
	return text, true, nil
}

// fill decodes the next batch.
func (c *cursor) fill() error {
	var rows int64
	var values int
	var err error
	c.texts = c.texts[:0]
	switch r := c.reader.(type) {
	case *file.ByteArrayColumnChunkReader:
		batch := make([]parquet.ByteArray, rowsPerBatch)
		rows, values, err = r.ReadBatch(rowsPerBatch, batch, c.levels, nil)
		for _, value := range batch[:values] {
			c.texts = append(c.texts, string(value))
		}
	case *file.Int32ColumnChunkReader:
		batch := make([]int32, rowsPerBatch)
		rows, values, err = r.ReadBatch(rowsPerBatch, batch, c.levels, nil)
		for _, value := range batch[:values] {
			if c.unsigned {
				c.texts = append(c.texts, strconv.FormatUint(uint64(uint32(value)), 10))
			} else {
				c.texts = append(c.texts, strconv.FormatInt(int64(value), 10))
			}
		}
	case *file.Int64ColumnChunkReader:
		batch := make([]int64, rowsPerBatch)
		rows, values, err = r.ReadBatch(rowsPerBatch, batch, c.levels, nil)
		for _, value := range batch[:values] {
			if c.unsigned {
				c.texts = append(c.texts, strconv.FormatUint(uint64(value), 10))
			} else {
				c.texts = append(c.texts, strconv.FormatInt(value, 10))
			}
		}
	}
	if err == nil && rows == 0 {
		if err = c.reader.Err(); err == nil {
			err = errors.New("a column has fewer values than rows")
		}
	}
	c.rows, c.read = int(rows), 0
	return err
}

// holdsNames reports whether the values of a column can be names: strings or integers, not dates or lists.
func holdsNames(c *schema.Column) bool {
	if c.MaxRepetitionLevel() > 0 {
		return false
	}
	logical := c.LogicalType()
	plain := logical.IsNone() || !logical.IsValid()
	switch c.PhysicalType() {
	case parquet.Types.ByteArray:
		switch logical.(type) {
		case schema.StringLogicalType, schema.EnumLogicalType, schema.UnknownLogicalType:
			return true
		}
		return plain
	case parquet.Types.Int32, parquet.Types.Int64:
		switch logical.(type) {
		case schema.IntLogicalType, *schema.IntLogicalType:
			return true
		}
		return plain
	}
	return false
}

// isUnsigned reports whether a column has integers without a sign.
func isUnsigned(c *schema.Column) bool {
	switch logical := c.LogicalType().(type) {
	case schema.IntLogicalType:
		return !logical.IsSigned()
	case *schema.IntLogicalType:
		return !logical.IsSigned()
	}
	return false
}

// typeOf returns the type of a field for a message.
func typeOf(field schema.Node) string {
	primitive, ok := field.(*schema.PrimitiveNode)
	switch {
	case !ok:
		return "group"
	case field.LogicalType() != nil && field.LogicalType().IsValid() && !field.LogicalType().IsNone():
		return field.LogicalType().String()
	}
	return primitive.PhysicalType().String()
}
