package parquet

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
)

var sampleSchema = arrow.NewSchema([]arrow.Field{
	{Name: "bool", Type: arrow.FixedWidthTypes.Boolean}, {Name: "int32", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "int64", Type: arrow.PrimitiveTypes.Int64},
	{Name: "float32", Type: arrow.PrimitiveTypes.Float32}, {Name: "float64", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "string", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// sample writes a file with Arrow, and returns it with its columns as text.
func sample(t testing.TB, rows int, properties ...parquet.WriterProperty) ([]byte, [6][]string) {
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	b := array.NewRecordBuilder(memory.DefaultAllocator, sampleSchema)
	var want [6][]string
	for i := range rows {
		for c, column := range b.Fields() {
			if sampleSchema.Field(c).Nullable && r.IntN(4) == 0 {
				column.AppendNull()
				want[c] = append(want[c], "null")
				continue
			}
			var value any
			switch column := column.(type) {
			case *array.BooleanBuilder:
				value = r.IntN(3) == 0
				column.Append(value.(bool))
			case *array.Int32Builder:
				value = []int32{int32(i), 5, math.MinInt32, math.MaxInt32}[r.IntN(4)]
				column.Append(value.(int32))
			case *array.Int64Builder:
				value = []int64{int64(i), 5, math.MinInt64, math.MaxInt64}[r.IntN(4)]
				column.Append(value.(int64))
			case *array.Float32Builder:
				value = float32(i % 3)
				column.Append(value.(float32))
			case *array.Float64Builder:
				value = r.Float64()
				column.Append(value.(float64))
			case *array.StringBuilder:
				value = []string{"", "ä", fmt.Sprint("prefix/", i/3), strings.Repeat("x", i%50)}[r.IntN(4)]
				column.Append(value.(string))
			}
			want[c] = append(want[c], fmt.Sprint(value))
		}
	}
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(sampleSchema, &out, parquet.NewWriterProperties(properties...), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	record := b.NewRecord()
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), want
}

// texts returns a column as text.
func texts[T ColumnValue](f *ColumnFile, column int) (all []string, err error) {
	for group := range f.GetRowGroups() {
		v, err := ColumnOf[T](f, group, column)
		for left := f.RowGroup(group).NumRows(); left > 0 && err == nil; {
			var values []T
			var nulls []bool
			values, nulls, err = v.Next()
			for i, value := range values {
				if nulls != nil && nulls[i] {
					all = append(all, "null")
				} else {
					all = append(all, fmt.Sprint(value))
				}
			}
			left -= int64(len(values))
		}
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", column, err)
		}
	}
	return all, nil
}

// readAll reads the columns of a file that has those of sample.
func readAll(data []byte) (all [6][]string, err error) {
	err = ReadColumns(bytes.NewReader(data), func(f *ColumnFile) error {
		for c, read := range []func(*ColumnFile, int) ([]string, error){
			texts[bool], texts[int32], texts[int64], texts[float32], texts[float64], texts[string],
		} {
			var err error
			if all[c], err = read(f, c); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

func TestRead(t *testing.T) {
	plain := parquet.WithDictionaryDefault(false)
	delta := func(texts parquet.Encoding) []parquet.WriterProperty {
		return []parquet.WriterProperty{
			plain, parquet.WithEncodingFor("int32", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("int64", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("string", texts),
		}
	}
	encodings := map[string][]parquet.WriterProperty{
		"dictionaries": nil, "plain": {plain}, "lengths": delta(parquet.Encodings.DeltaLengthByteArray), "suffixes": delta(parquet.Encodings.DeltaByteArray),
	}
	for encoding, properties := range encodings {
		for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli,
			compress.Codecs.Zstd} {
			if encoding != "dictionaries" && codec != compress.Codecs.Snappy { // pages are unpacked before values are decoded
				continue
			}
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				for _, rows := range []int{0, 1, 2500} {
					name := fmt.Sprintf("%s, %s, pages of version %d, %d rows", encoding, codec, version, rows)
					data, want := sample(t, rows, append([]parquet.WriterProperty{
						parquet.WithCompression(codec), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(1 << 10), parquet.WithBatchSize(100),
						parquet.WithMaxRowGroupLength(2000),
					}, properties...)...)
					got, err := readAll(data)
					if diff := cmp.Diff(want, got); err != nil || diff != "" {
						t.Errorf("%s: %v\n%s", name, err, diff)
					}
				}
			}
		}
	}
}

// FuzzRead checks that no file makes the reader panic, hang or allocate without bound.
func FuzzRead(f *testing.F) {
	for _, properties := range [][]parquet.WriterProperty{
		nil,
		{parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithDictionaryDefault(false)},
		{parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("int64", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("string", parquet.Encodings.DeltaByteArray)},
	} {
		data, _ := sample(f, 5, properties...)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { readAll(data) })
}
