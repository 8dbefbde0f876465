package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/thrift/lib/go/thrift"
	"github.com/klauspost/compress/zstd"
)

// packed returns a struct of 32-bit numbers in Thrift's compact protocol: number i is field i+1. Field inner, unless it
// is 0, is a struct of numbers too.
func packed(numbers []int32, inner int16, within ...int32) []byte {
	ctx := context.Background()
	to := thrift.NewTMemoryBuffer()
	w := thrift.NewTCompactProtocolConf(to, nil)
	write := func(numbers []int32) {
		for i, n := range numbers {
			w.WriteFieldBegin(ctx, "", thrift.I32, int16(i+1))
			w.WriteI32(ctx, n)
		}
	}
	w.WriteStructBegin(ctx, "")
	write(numbers)
	if inner > 0 {
		w.WriteFieldBegin(ctx, "", thrift.STRUCT, inner)
		w.WriteStructBegin(ctx, "")
		write(within)
		w.WriteFieldStop(ctx)
		w.WriteStructEnd(ctx)
	}
	w.WriteFieldStop(ctx)
	return to.Bytes()
}

// numbered returns integers as a variable number of bytes.
func numbered(numbers ...uint64) (data []byte) {
	for _, n := range numbers {
		data = binary.AppendUvarint(data, n)
	}
	return data
}

// fails runs f, and fails the test unless it returns an error and allocates less than limit bytes.
func fails(t *testing.T, what string, limit uint64, f func() error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := guard(f)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; err == nil || allocated > limit {
		t.Errorf("%s: error %v, %d bytes allocated", what, err, allocated)
	}
}

func TestForgedPages(t *testing.T) {
	const huge = 1<<31 - 1
	plain, rle, indexed := int32(parquet.Encodings.Plain), int32(parquet.Encodings.RLE), int32(parquet.Encodings.RLEDict)
	lengths, suffixes := int32(parquet.Encodings.DeltaLengthByteArray), int32(parquet.Encodings.DeltaByteArray)
	encoder, _ := zstd.NewWriter(nil)
	bomb := encoder.EncodeAll(make([]byte, 64<<20), nil)
	page := func(length int, content []byte, kind int16, within ...int32) []byte {
		return append(packed([]int32{map[int16]int32{5: dataPage, 7: dictionaryPage, 8: dataPageV2}[kind], int32(length), int32(len(content))}, kind,
			within...), content...)
	}
	same := func(content []byte, kind int16, within ...int32) []byte {
		return page(len(content), content, kind, within...)
	}
	text := []byte("\x01\x00\x00\x00a")
	for what, c := range map[string]struct {
		codec compress.Compression
		pages []byte
	}{
		"nothing":                           {0, nil},
		"a page too long":                   {0, page(huge, text, 5, 10, plain)},
		"a page longer than the column":     {0, same(text, 5, 10, plain)[:8]},
		"fewer values than the page says":   {0, same(text, 5, 10, plain)},
		"more rows than the row group":      {0, same(text, 5, huge, plain)},
		"negative rows":                     {0, same(text, 5, -1, plain)},
		"a text longer than the page":       {0, same([]byte("\xff\xff\xff\x7fa"), 5, 10, plain)},
		"pages without rows":                {0, slices.Repeat(same(nil, 5, 0, plain), 100)},
		"a page unpacked to more":           {compress.Codecs.Zstd, page(100, bomb, 5, 10, plain)},
		"a page unpacked to less":           {compress.Codecs.Zstd, page(maxPage, bomb, 5, 10, plain)},
		"a small page of 256 MiB":           {compress.Codecs.Zstd, page(maxPage, text, 5, 10, plain)},
		"a snappy page unpacked to more":    {compress.Codecs.Snappy, page(100, numbered(1<<32-1), 5, 10, plain)},
		"no gzip":                           {compress.Codecs.Gzip, page(100, text, 5, 10, plain)},
		"an unknown compression":            {99, page(100, text, 5, 10, plain)},
		"an unknown encoding":               {0, same(text, 5, 10, 99)},
		"an encoding of other types":        {0, same(text, 5, 10, rle)},
		"a huge dictionary":                 {0, same(text, 7, huge, plain)},
		"two dictionaries":                  {0, slices.Repeat(same(text, 7, 1, plain), 2)},
		"an entry the dictionary lacks":     {0, append(same(text, 7, 1, plain), same([]byte("\x08\x14\x01"), 5, 10, indexed)...)},
		"indices without a dictionary":      {0, same([]byte("\x00\x14"), 5, 10, indexed)},
		"indices of 40 bits":                {0, append(same(text, 7, 1, plain), same([]byte("\x28\x14\x00\x00\x00\x00\x00"), 5, 10, indexed)...)},
		"indices that end early":            {0, append(same(text, 7, 1, plain), same([]byte("\x01\x04\x00"), 5, 10, indexed)...)},
		"runs of nothing":                   {0, append(same(text, 7, 1, plain), same(append([]byte{1}, make([]byte, 100)...), 5, 10, indexed)...)},
		"levels longer than the page":       {0, same(text, 8, 10, 0, 10, plain, 100, 0)},
		"negative levels":                   {0, same(text, 8, 10, 0, 10, plain, -1, 0)},
		"lengths of too many texts":         {0, same(numbered(128, 4, 1<<40, 0), 5, 10, lengths)},
		"lengths in huge blocks":            {0, same(numbered(1<<40, 1, 10, 0), 5, 10, lengths)},
		"lengths in no blocks":              {0, same(numbered(128, 0, 10, 0), 5, 10, lengths)},
		"lengths that end early":            {0, same(numbered(128, 4, 10, 2, 0, 65, 65, 65, 65), 5, 10, lengths)},
		"no lengths":                        {0, same(numbered(128, 4, 0, 0), 5, 10, lengths)},
		"a negative length":                 {0, same(numbered(128, 4, 1, 1), 5, 10, lengths)},
		"a text that shares with none":      {0, same(append(numbered(128, 4, 1, 200), numbered(128, 4, 1, 0)...), 5, 10, suffixes)},
		"a header whose structs are nested": {0, append(bytes.Repeat([]byte{0x5c}, 1000), make([]byte, 1000)...)},
	} {
		fails(t, what, 8<<20, func() error {
			v := ColumnValues[string]{chunk: chunk{c.codec, c.pages}, left: 10}
			for range 10 {
				if _, _, err := v.Next(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	// The levels of ten rows end early: Arrow waits for the others without end.
	fails(t, "levels that end early", 8<<20, func() error {
		v := ColumnValues[string]{chunk: chunk{0, same([]byte("\x02\x00\x00\x00\x04\x01"), 5, 10, plain, rle)}, left: 10, nullable: true}
		_, _, err := v.Next()
		return err
	})
}

func TestForgedFooters(t *testing.T) {
	whole, _ := sample(t, 10)
	if _, err := readAll(whole); err != nil {
		t.Fatal(err)
	}
	length := len(whole) - 8 - int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	with := func(footer []byte) []byte {
		data := append(slices.Clone(whole[:length]), footer...)
		return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), magic...)
	}
	for what, change := range map[string]func(m *metadata.FileMetaData){
		"rows":   func(m *metadata.FileMetaData) { m.RowGroups[0].NumRows = 1 << 62 },
		"values": func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 1 << 62 },
		"rows, values": func(m *metadata.FileMetaData) {
			m.RowGroups[0].NumRows = 100
			m.RowGroups[0].Columns[0].MetaData.NumValues = 100
		},
		"length":         func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 40 },
		"negative":       func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = -1 },
		"offset":         func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -1 << 63 },
		"offset behind":  func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = 1 << 40 },
		"no columns":     func(m *metadata.FileMetaData) { m.RowGroups[0].Columns = nil },
		"children":       func(m *metadata.FileMetaData) { *m.FileMetaData.Schema[0].NumChildren = 1<<31 - 1 },
		"fewer children": func(m *metadata.FileMetaData) { *m.FileMetaData.Schema[0].NumChildren = 3 },
		"depth": func(m *metadata.FileMetaData) {
			one := int32(1)
			for i := range 5000 {
				e := *m.FileMetaData.Schema[0]
				e.NumChildren = &one
				if i == 0 {
					m.FileMetaData.Schema = nil
				}
				m.FileMetaData.Schema = append(m.FileMetaData.Schema, &e)
			}
		},
	} {
		m, err := metadata.NewFileMetaData(whole[length:], nil)
		if err != nil {
			t.Fatal(err)
		}
		change(m)
		footer, err := m.Serialize(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fails(t, what, 8<<20, func() error {
			_, err := readAll(with(footer))
			return err
		})
	}
	fails(t, "a list of 100 million elements", 8<<20, func() error {
		_, err := readAll(with(append([]byte{0x29, 0xfc}, numbered(100_000_000)...)))
		return err
	})
	fails(t, "a list of 1,000 numbers that Arrow takes for structs", 8<<20, func() error {
		_, err := readAll(with(append(append([]byte{0x29, 0xf5}, numbered(1000)...), make([]byte, 1001)...)))
		return err
	})
	for _, data := range []string{"", "PAR1", "PAR1\xff\xff\xff\xffPAR1", "PAR1\x00\x00\x00\x00PAR1", "PAR1\x00\x00\x00\x00PARE", strings.Repeat("x", 20)} {
		fails(t, data, 8<<20, func() error {
			_, err := readAll([]byte(data))
			return err
		})
	}
}
