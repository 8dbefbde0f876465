package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	// maxPage bounds the memory of a page; writers make pages of about a MiB.
	maxPage = 256 << 20
	// maxValues bounds the values of a page that are decoded together: those of a dictionary, or lengths. Each takes 16
	// bytes at most.
	maxValues = maxPage / 16
)

// The kinds of pages that are read.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

// LZ4Raw is LZ4 without a frame, which Arrow does not know.
const LZ4Raw = compress.Compression(7)

// chunk has the pages of a column in a row group that are not read yet.
type chunk struct {
	codec compress.Compression
	pages []byte
}

// chunk reads the pages of a column from the file.
func (f *ColumnFile) chunk(group, column int) (chunk, error) {
	m, err := f.RowGroup(group).ColumnChunk(column)
	switch {
	case err != nil:
		return chunk{}, err
	case m.CryptoMetadata() != nil:
		return chunk{}, errors.New("a column is encrypted")
	case m.NumValues() != f.RowGroup(group).NumRows():
		return chunk{}, fmt.Errorf("a column has %d values in %d rows", m.NumValues(), f.RowGroup(group).NumRows())
	}
	start, length := m.DataPageOffset(), m.TotalCompressedSize()
	if dictionary := m.DictionaryPageOffset(); m.HasDictionaryPage() && dictionary > 0 && dictionary < start {
		start = dictionary
	}
	// Early versions of Java's writer do not count the header of the dictionary, at most 100 bytes.
	if length >= 0 && length <= f.source.Size() {
		length = max(length, min(length+100, f.source.Size()-start))
	}
	pages, err := span(f.source, start, length)
	return chunk{m.Compression(), pages}, err
}

// page is a page as the file has it. Its header is a struct in Thrift's compact protocol: numbers are its fields.
type page struct {
	kind    int32
	numbers map[string]int32
	content []byte
	length  int // of the content without compression
}

func (c *chunk) next() (page, error) {
	if len(c.pages) == 0 {
		return page{}, errShort
	}
	w := walker{}
	header, err := w.walk(c.pages)
	if err != nil {
		return page{}, fmt.Errorf("the header of a page: %w", err)
	}
	kind, length, packed := w.numbers["1"], w.numbers["2"], w.numbers["3"]
	if packed < 0 || int(packed) > len(c.pages)-header {
		return page{}, errShort
	}
	if length < 0 || length > maxPage {
		return page{}, fmt.Errorf("a page of %d bytes, the limit is %d", length, maxPage)
	}
	p := page{kind, w.numbers, c.pages[header : header+int(packed)], int(length)}
	c.pages = c.pages[header+int(packed):]
	return p, nil
}

// errShort is the error of a column that ends before its values do.
var errShort = errors.New("a column has fewer values than rows")

// zstdDecoder returns an error where a page is longer than the memory that it gets.
var zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))

// unpack returns the content of a page, or the part of it that is compressed, which is length bytes long.
func unpack(codec compress.Compression, packed []byte, length int) (content []byte, err error) {
	switch {
	case length == 0: // some writers compress no values to no bytes
	case codec == compress.Codecs.Uncompressed:
		content = packed
	case codec == compress.Codecs.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || n != length {
			return nil, fmt.Errorf("a page has %d bytes instead of %d", n, length)
		}
		content, err = snappy.Decode(nil, packed)
	case codec == compress.Codecs.Zstd:
		if length>>15 > len(packed) { // four bytes are 128 KiB at most
			return nil, errShort
		}
		content, err = zstdDecoder.DecodeAll(packed, make([]byte, 0, length))
	case codec == LZ4Raw:
		if length>>8 > len(packed) { // a byte is 255 at most
			return nil, errShort
		}
		content = make([]byte, length)
		n, err := lz4.UncompressBlock(packed, content)
		if err != nil {
			return nil, err
		}
		content = content[:n]
	default:
		decoder, err := compress.GetCodec(codec)
		if err != nil {
			return nil, err
		}
		reader := decoder.NewReader(bytes.NewReader(packed))
		defer reader.Close()
		var out bytes.Buffer
		if _, err := io.CopyN(&out, reader, int64(length)); err != nil {
			return nil, err
		}
		content = out.Bytes()
	}
	if err == nil && len(content) != length {
		err = fmt.Errorf("a page has %d bytes instead of %d", len(content), length)
	}
	return content, err
}
