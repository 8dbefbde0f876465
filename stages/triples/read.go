package triples

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"tagnet/formats/storage"
	"tagnet/formats/triples"
)

// Counters of the stage.
var (
	factsRead     = beam.NewCounter("triples", "facts_read")
	linesRejected = beam.NewCounter("triples", "lines_rejected")
)

// DefaultRows is how many facts a batch holds at most: 2 to 4 MB of text in practice.
const DefaultRows = 32768

// ReadParams says how files are read.
type ReadParams struct {
	// Strict makes the first bad line of a file an error, as the parser words it. Otherwise
	// bad lines are rejected and reading goes on.
	Strict bool
	// Rows is the most facts in a batch; 0 is DefaultRows.
	Rows int
}

// Read parses files. Input: File. Output: facts, each element a Batch as Encode writes it,
// and rejected lines, each element as EncodeRejects writes it.
func Read(s beam.Scope, files beam.PCollection, p ReadParams) (facts, rejects beam.PCollection) {
	s = s.Scope("triples.Read")
	if p.Rows == 0 {
		p.Rows = DefaultRows
	}
	return beam.ParDo2(s, &readFn{Strict: p.Strict, Rows: p.Rows}, beam.Reshuffle(s, files))
}

func init() {
	register.DoFn4x1[context.Context, File, func([]byte), func([]byte), error](&readFn{})
	register.Emitter1[[]byte]()
	beam.RegisterType(beamTypeOf[File]())
}

type readFn struct {
	Strict bool
	Rows   int
}

// ProcessElement reads one file from its beginning to its end.
func (f *readFn) ProcessElement(ctx context.Context, file File, emit, emitRejects func([]byte)) error {
	r, err := storage.Open(ctx, file.URL)
	if err != nil {
		return err
	}
	defer r.Close()
	batch := Batch{File: file}
	var rejects []Reject
	flush := func() error {
		if len(batch.Lines) > 0 {
			element, err := batch.Encode()
			if err != nil {
				return err
			}
			factsRead.Inc(ctx, int64(len(batch.Lines)))
			emit(element)
			batch = Batch{File: file, Number: batch.Number + 1}
		}
		if len(rejects) > 0 {
			element, err := EncodeRejects(rejects)
			if err != nil {
				return err
			}
			linesRejected.Inc(ctx, int64(len(rejects)))
			emitRejects(element)
			rejects = nil
		}
		return nil
	}
	each := func(line int, t triples.Triple) error {
		batch.Heads = append(batch.Heads, t.Head)
		batch.Relations = append(batch.Relations, t.Relation)
		batch.Tails = append(batch.Tails, t.Tail)
		batch.Lines = append(batch.Lines, int64(line))
		if len(batch.Lines) < f.Rows {
			return nil
		}
		return flush()
	}
	bad := func(b triples.BadLine) error {
		if f.Strict {
			return b
		}
		rejects = append(rejects, Reject{File: b.File, Line: int64(b.Line), Reason: b.Reason, Text: b.Text})
		if len(rejects) < f.Rows {
			return nil
		}
		return flush()
	}
	if err := triples.Read(file.URL, r, each, bad); err != nil {
		return err
	}
	return flush()
}
