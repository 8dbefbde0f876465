package triples

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"tagnet/formats/storage"
	"tagnet/formats/triples"
)

// The graphs that a file may belong to.
const (
	Training  = "training"
	Inference = "inference"
)

// File is a text of facts or a part of one, and an element of pipelines.
type File struct {
	// URL is the path or URL as the user wrote it; errors about a line begin with it.
	URL string
	// Graph is Training or Inference, Split is train, valid or test.
	Graph, Split string
	// Offset and Length are the part's bytes; a Length of 0 is the whole text.
	Offset, Length int64
	// Line is the number of the part's first line less 1.
	Line int64
	// Packed says that it is gzip.
	Packed bool
	// Checksum is the CRC-32C of the part's bytes; 0 is not compared.
	Checksum uint32
}

// Name tells the parts of a data set apart, in the names of files.
func (f File) Name() string { return fmt.Sprintf("%s-%s-%015x", f.Graph, f.Split, f.Offset) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Read calls each for every fact of the file, in order, with the number of its line, and bad for
// every line that is none; see Read in formats/triples. That the text has changed since it was
// cut is an error after the last line.
func (f File) Read(ctx context.Context, each func(line int, t triples.Triple) error, bad func(triples.BadLine) error) error {
	file, err := storage.OpenRandom(ctx, f.URL)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := &summed{r: file}
	if f.Length > 0 {
		sum.r = io.NewSectionReader(file, f.Offset, f.Length)
	}
	if err := triples.ReadPart(f.URL, int(f.Line)+1, sum, each, bad); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, sum); err != nil { // what is behind the end of a gzip stream
		return fmt.Errorf("reading %s: %w", f.URL, err)
	}
	if f.Checksum != 0 && sum.checksum != f.Checksum {
		return fmt.Errorf("%s: %w", f.URL, ErrChanged)
	}
	return nil
}

// ErrChanged is the error of a text that is not what it was when the run began.
var ErrChanged = errors.New("the file has changed while it was read; run again when nothing writes to it")

// summed keeps the CRC-32C of what was read.
type summed struct {
	r        io.Reader
	checksum uint32
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.checksum = crc32.Update(s.checksum, castagnoli, p[:n])
	return n, err
}
