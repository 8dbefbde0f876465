package triples

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"tagnet/formats/storage"
)

// Text is what one look at a file tells.
type Text struct {
	// Parts are the file's parts, in order. A gzip file is one part.
	Parts []File
	// SHA256 is the hash of all bytes, in hexadecimal digits, and Size their number.
	SHA256 string
	Size   int64
	// Lines is how many lines there are, or 0 in a gzip file.
	Lines int64
}

// Cut reads a file once and cuts it, behind ends of lines, into parts of about so many bytes, or
// of more if there would be too many parts or a line is longer.
func Cut(ctx context.Context, f File, bytesPerPart, mostParts int64) (Text, error) {
	r, err := storage.OpenRandom(ctx, f.URL)
	if err != nil {
		return Text{}, err
	}
	defer r.Close()
	var t Text
	c := cutter{part: f, most: max(1, bytesPerPart, r.Size()/mostParts)}
	sum := sha256.New()
	buffer := make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(r, buffer)
		if t.Size == 0 {
			c.part.Packed = bytes.HasPrefix(buffer[:n], []byte("\x1f\x8b"))
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
	t.SHA256, t.Parts, t.Lines = hex.EncodeToString(sum.Sum(nil)), c.parts, c.lines
	return t, nil
}

// cutter cuts a text that comes piece by piece.
type cutter struct {
	parts  []File
	part   File // under way
	most   int64
	lines  int64 // ended before now
	middle bool  // of a line
}

func (c *cutter) add(p []byte) {
	if c.part.Packed {
		c.extend(p)
		return
	}
	for len(p) > 0 {
		left := c.most - c.part.Length
		if left > int64(len(p)) {
			c.extend(p)
			return
		}
		// The part ends behind the first end of a line at or after its last byte.
		from := max(0, left-1)
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

// extend takes bytes into the part under way.
func (c *cutter) extend(p []byte) {
	if len(p) == 0 {
		return
	}
	c.part.Length += int64(len(p))
	c.part.Checksum = crc32.Update(c.part.Checksum, castagnoli, p)
	if !c.part.Packed {
		c.lines += int64(bytes.Count(p, []byte("\n")))
		c.middle = p[len(p)-1] != '\n'
	}
}

// close ends the part under way and begins the next.
func (c *cutter) close() {
	c.parts = append(c.parts, c.part)
	c.part.Offset += c.part.Length
	c.part.Length, c.part.Checksum, c.part.Line = 0, 0, c.lines
}

// end closes the last part. A text of nothing is a part too, which reading refuses.
func (c *cutter) end() {
	if c.middle {
		c.lines++
	}
	if c.part.Length > 0 || len(c.parts) == 0 {
		c.parts = append(c.parts, c.part)
	}
}
