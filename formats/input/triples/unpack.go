package triples

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"tagnet/formats/remedy"
)

// packing describes a compression that Unpack reads or names in an error.
type packing struct {
	name   string
	ending string
	begins func(start []byte) bool
	unpack func(io.Reader) (io.Reader, error)
}

// magicLength is how many bytes of a file tell its kind. A text may well begin with the letters BZh.
const magicLength = 10

func prefix(magic string) func([]byte) bool {
	return func(start []byte) bool { return bytes.HasPrefix(start, []byte(magic)) }
}

func isBzip2(start []byte) bool {
	if len(start) < magicLength || !bytes.HasPrefix(start, []byte("BZh")) || start[3] < '1' || start[3] > '9' {
		return false
	}
	block := string(start[4:magicLength])
	return block == "\x31\x41\x59\x26\x53\x59" || block == "\x17\x72\x45\x38\x50\x90" // a block, or the end of an empty file
}

// maxWindow bounds the memory that a zstd file may ask for, as zstd itself does without --long.
const maxWindow = 128 << 20

var packings = []packing{
	{"gzip", ".gz", prefix("\x1f\x8b"), func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"bzip2", ".bz2", isBzip2, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"zstd", ".zst", prefix("\x28\xb5\x2f\xfd"), func(r io.Reader) (io.Reader, error) {
		// One goroutine: the reader is dropped without a call of Close.
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}},
}

// Packed reports whether a file that begins with these bytes, at least ten or all that it has, is compressed.
func Packed(start []byte) bool { return packingOf(start) != nil }

// packingOf returns the compression of a text by its first bytes, nil for none.
func packingOf(start []byte) *packing {
	for i, p := range packings {
		if p.begins(start) {
			return &packings[i]
		}
	}
	return nil
}

// Unpack returns a text without its compression and its byte-order mark. Errors mention name.
func Unpack(name string, r io.Reader) (*bufio.Reader, error) {
	return begin(name, bufio.NewReaderSize(r, MaxLine+len("\r\n")))
}

// plain unpacks a compressed text.
func plain(name string, text *bufio.Reader) (*bufio.Reader, error) {
	start, err := text.Peek(magicLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readError(name, err)
	}
	p := packingOf(start)
	if p == nil {
		for _, p := range packings {
			if strings.HasSuffix(strings.ToLower(name), p.ending) && len(start) > 0 {
				return nil, fmt.Errorf("%s is no %s file, as its name says: it begins with %q; make or fetch it again, or rename it", name, p.name, start)
			}
		}
		return text, nil
	}
	unpacked, err := p.unpack(text)
	if err != nil {
		return nil, readError(name, p.error(err))
	}
	return bufio.NewReaderSize(unpacker{unpacked, p}, MaxLine+len("\r\n")), nil
}

// unpacker returns an error, not io.EOF, if the packed data end too early.
type unpacker struct {
	r io.Reader
	p *packing
}

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = u.p.error(err)
	}
	return n, err
}

// error returns the error of a file that is cut short or damaged. It is never io.EOF.
func (p *packing) error(err error) error {
	var damaged bzip2.StructuralError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the %s file is cut short; make or fetch it again", p.name)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return remedy.Errorf(remedy.Do("compress it without %v", remedy.Flag("long")), "the zstd file needs a window of more than %d MiB", maxWindow>>20)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &damaged),
		errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, zstd.ErrMagicMismatch), errors.Is(err, zstd.ErrUnexpectedBlockSize),
		errors.Is(err, zstd.ErrReservedBlockType):
		return fmt.Errorf("the %s file is damaged (%v); make or fetch it again", p.name, err)
	}
	return fmt.Errorf("unpacking %s: %w", p.name, err)
}
