package triples

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tagnet/formats/storage"
)

// The graphs that a text may belong to.
const (
	Training  = "training"
	Inference = "inference"
)

// Background is the split of facts that are in the graph and among the known answers, and that no query is about.
const Background = "facts"

// Chunk is consecutive lines of a text of facts, or all of them. It is an element of pipelines.
type Chunk struct {
	// URL is the path or URL of the text as the user wrote it; errors about a line begin with it.
	URL string
	// Graph is Training or Inference, Split is train, valid, test or Background.
	Graph, Split string
	// Number tells the texts of a graph and split apart.
	Number int
	// Original is set if this program wrote the text from a file of another format: errors then begin with its
	// path or URL, and with the line there, which every line of the text has as a fourth field.
	Original string
	// Offset and Length are the bytes of the chunk; a Length of 0 is the whole text.
	Offset, Length int64
	// Line is the number of lines before the chunk.
	Line int64
	// Packed is set if the text is compressed.
	Packed bool
	// Checksum is the CRC-32C of the chunk's bytes; 0 is not checked.
	Checksum uint32
}

// File returns the path or URL of the file that the user knows.
func (f Chunk) File() string {
	if f.Original != "" {
		return f.Original
	}
	return f.URL
}

// Name returns a name that no other chunk of the dataset has, for use in file names.
func (f Chunk) Name() string {
	return fmt.Sprintf("%s-%s-%d-%015x", f.Graph, f.Split, f.Number, f.Offset)
}

// Read calls each with every fact of the chunk, in order, and the number of its line, and bad with
// every line that is not a fact; see Read. It returns ErrChanged after the last
// line if the text has changed since Scan.
func (f Chunk) Read(ctx context.Context, each func(line int, t Triple) error, bad func(BadLine) error) error {
	file, err := storage.OpenRandom(ctx, f.URL)
	if err != nil {
		return err
	}
	defer file.Close()
	var text, after io.Reader = file, nil
	if f.Length > 0 {
		end := f.Offset + f.Length
		text, after = io.NewSectionReader(file, f.Offset, f.Length), io.NewSectionReader(file, end, file.Size()-end)
	}
	sum := &storage.CRC32CReader{Reader: storage.Interruptible(ctx, text)} // a compressed text may be one line without end
	if f.Original != "" {
		err = readNumbered(f.URL, int(f.Line)+1, sum, each)
	} else {
		err = readChunk(f.URL, int(f.Line)+1, sum, after, each, bad)
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, sum); err != nil { // what follows the end of a compressed stream
		return fmt.Errorf("reading %s: %w", f.URL, err)
	}
	if f.Checksum != 0 && sum.Sum != f.Checksum {
		return fmt.Errorf("%s: %w", f.URL, ErrChanged)
	}
	return nil
}

// ErrChanged is the error of a text that changed during a run.
var ErrChanged = errors.New("the file has changed while it was read; run again when nothing writes to it")
