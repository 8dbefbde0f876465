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

func isBzip2(start []byte) bool {
	if len(start) < magicLength || !bytes.HasPrefix(start, []byte("BZh")) || start[3] < '1' || start[3] > '9' {
		return false
	}
	block := string(start[4:magicLength])
	return block == "\x31\x41\x59\x26\x53\x59" || block == "\x17\x72\x45\x38\x50\x90" // a block, or the end of an empty file
}

// isZstd recognizes a frame, and one that is to be skipped, such as pzstd writes before each other one.
func isZstd(start []byte) bool {
	return bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")) || len(start) > 3 && start[0]>>4 == 5 && string(start[1:4]) == "\x2a\x4d\x18"
}

// maxWindow bounds the memory that a zstd file may ask for, as zstd itself does without --long.
const maxWindow = 128 << 20

var packings = []packing{
	{"gzip", ".gz", func(start []byte) bool { return bytes.HasPrefix(start, []byte("\x1f\x8b")) }, newGzip},
	{"bzip2", ".bz2", isBzip2, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"zstd", ".zst", isZstd, func(r io.Reader) (io.Reader, error) {
		// One goroutine: the reader is dropped without a call of Close.
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}},
}

// foreign are kinds of files, by their first bytes, that are recognized and not unpacked.
var foreign = []struct {
	name, magic string
	at          int
}{
	{"a zip", "PK\x03\x04", 0}, {"a 7z", "7z\xbc\xaf\x27\x1c", 0}, {"a rar", "Rar!\x1a\x07", 0}, {"an xz", "\xfd7zXZ\x00", 0},
	{"an lz4", "\x04\x22\x4d\x18", 0},
	{"an lzip", "LZIP\x01", 0}, {"an lzma", "\x5d\x00\x00\x80\x00\xff", 0}, {"a compress (.Z)", "\x1f\x9d", 0}, {"a snappy", "\xff\x06\x00\x00sNaPpY", 0},
	{"a tar", "ustar\x00", 257}, {"a tar", "ustar  \x00", 257}, // of POSIX and of GNU
}

// checkForeign returns an error for a text that begins like a file that has to be unpacked first.
func checkForeign(name string, start []byte) error {
	for _, f := range foreign {
		if len(start) > f.at && bytes.HasPrefix(start[f.at:], []byte(f.magic)) {
			return fmt.Errorf("%s is %s file: unpack it first", name, f.name)
		}
	}
	return nil
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
	return begin(name, bufio.NewReaderSize(r, bufferBytes))
}

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
	return bufio.NewReaderSize(unpacker{unpacked, p}, bufferBytes), nil
}

// gzipMembers are the members of a gzip file, one after the other. Zeros may follow, as tapes and some tools pad files.
type gzipMembers struct {
	from   *bufio.Reader
	member *gzip.Reader
}

func newGzip(r io.Reader) (io.Reader, error) {
	g := &gzipMembers{from: bufio.NewReader(r)}
	var err error
	if g.member, err = gzip.NewReader(g.from); err == nil {
		g.member.Multistream(false)
	}
	return g, err
}

// Read reads on where a member has no text, as those of many empty parts.
func (g *gzipMembers) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if n, err = g.member.Read(p); errors.Is(err, io.EOF) {
			err = g.next()
		}
	}
	return n, err
}

// next begins the next member, which is behind zeros, if there is one.
func (g *gzipMembers) next() error {
	for {
		start, err := g.from.Peek(1)
		switch {
		case err != nil:
			return err
		case start[0] == 0:
			g.from.Discard(1)
			continue
		}
		err = g.member.Reset(g.from)
		g.member.Multistream(false)
		return err
	}
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
