package triples

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"tagnet/formats/storage"
)

// Text describes a file of facts.
type Text struct {
	// Chunks are the file's chunks, in order. A compressed file is one chunk.
	Chunks []Chunk
	// SHA256 is the hash of all bytes, in hexadecimal digits; Size is their number.
	SHA256 string
	Size   int64
	// Lines is the number of lines, or 0 if the file is compressed.
	Lines int64
}

// Scan reads a file once and splits it at line ends into chunks of about chunkBytes, or more if there
// would be more than maxChunks or a line is longer. f gives the URL, graph and split.
func Scan(ctx context.Context, f Chunk, chunkBytes, maxChunks int64) (Text, error) {
	r, err := storage.OpenRandom(ctx, f.URL)
	if err != nil {
		return Text{}, err
	}
	defer r.Close()
	var t Text
	c := splitter{chunk: f, size: max(1, chunkBytes, r.Size()/maxChunks)}
	sum := sha256.New()
	buffer := make([]byte, 1<<20)
	// The blocks feed the hash and the splitter. Its first bytes show a compressed text.
	for {
		n, err := io.ReadFull(r, buffer)
		if t.Size == 0 {
			c.chunk.Packed = Packed(buffer[:n])
		}
		t.Size += int64(n)
		sum.Write(buffer[:n])
		c.add(buffer[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return Text{}, fmt.Errorf("reading %s: %w", f.URL, err)
		}
		if err := ctx.Err(); err != nil {
			return Text{}, fmt.Errorf("reading %s: %w", f.URL, err)
		}
	}
	c.end()
	t.SHA256, t.Chunks, t.Lines = hex.EncodeToString(sum.Sum(nil)), c.chunks, c.lines
	return t, nil
}

// splitter splits a text into chunks. It gets the text block by block.
type splitter struct {
	chunks  []Chunk
	chunk   Chunk // the current one
	size    int64 // at which a chunk ends with the next line end
	lines   int64 // line ends so far
	midLine bool  // the last byte was not a line end
}

// add appends bytes to the current chunk, and ends it at the first line end at or after its size.
func (c *splitter) add(p []byte) {
	if c.chunk.Packed {
		c.extend(p)
		return
	}
	for len(p) > 0 {
		remaining := c.size - c.chunk.Length
		if remaining > int64(len(p)) {
			c.extend(p)
			return
		}
		// The chunk ends with the first line end at or after its last byte.
		from := max(0, remaining-1)
		end := bytes.IndexByte(p[from:], '\n')
		if end < 0 {
			c.extend(p)
			return
		}
		c.extend(p[:from+int64(end)+1])
		p = p[from+int64(end)+1:]
		c.close()
	}
}

// extend adds bytes to the current chunk.
func (c *splitter) extend(p []byte) {
	if len(p) == 0 {
		return
	}
	c.chunk.Length += int64(len(p))
	c.chunk.Checksum = storage.CRC32C(c.chunk.Checksum, p)
	if !c.chunk.Packed {
		c.lines += int64(bytes.Count(p, []byte("\n")))
		c.midLine = p[len(p)-1] != '\n'
	}
}

// close ends the current chunk and begins the next.
func (c *splitter) close() {
	c.chunks = append(c.chunks, c.chunk)
	c.chunk.Offset += c.chunk.Length
	c.chunk.Length, c.chunk.Checksum, c.chunk.Line = 0, 0, c.lines
}

// end ends the last chunk. An empty text is one chunk, too, which Read reports as an error.
func (c *splitter) end() {
	if c.midLine {
		c.lines++
	}
	if c.chunk.Length > 0 || len(c.chunks) == 0 {
		c.chunks = append(c.chunks, c.chunk)
	}
}
