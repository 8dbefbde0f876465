package triples

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/tables"
)

// The graphs that a file may belong to.
const (
	Training  = "training"
	Inference = "inference"
)

// File is one file of facts, and an element of the stage's input.
type File struct {
	// URL is the path or URL as the user wrote it; errors about a line begin with it.
	URL string
	// Graph is Training or Inference, Split is train, valid or test.
	Graph, Split string
}

// Batch is a run of facts of one file, column by column.
type Batch struct {
	File
	// Number counts the batches of the file from 0.
	Number int
	// Heads, Relations and Tails have an entry per fact; Lines are their lines, from 1.
	Heads, Relations, Tails []string
	Lines                   []int64
}

// Reject is a line that is no fact.
type Reject struct {
	File   string
	Line   int64
	Reason string
	Text   string
}

func metadata(f File, number int) arrow.Metadata {
	return arrow.NewMetadata([]string{"file", "graph", "split", "number"}, []string{f.URL, f.Graph, f.Split, strconv.Itoa(number)})
}

func columns(names ...string) []arrow.Field {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
	}
	return append(fields, arrow.Field{Name: "line", Type: arrow.PrimitiveTypes.Int64})
}

// Encode turns a batch into an Arrow IPC stream.
func (b Batch) Encode() ([]byte, error) {
	m := metadata(b.File, b.Number)
	return encode(arrow.NewSchema(columns("head", "relation", "tail"), &m), b.Lines, b.Heads, b.Relations, b.Tails)
}

// Decode reads what Encode wrote.
func (b *Batch) Decode(element []byte) error {
	m, lines, texts, err := decode(element, 3)
	if err != nil {
		return fmt.Errorf("decoding a batch of facts: %w", err)
	}
	value := func(key string) string {
		if i := m.FindKey(key); i >= 0 {
			return m.Values()[i]
		}
		return ""
	}
	number, err := strconv.Atoi(value("number"))
	if err != nil {
		return fmt.Errorf("decoding a batch of facts: its number: %w", err)
	}
	*b = Batch{
		File: File{URL: value("file"), Graph: value("graph"), Split: value("split")}, Number: number,
		Heads: texts[0], Relations: texts[1], Tails: texts[2], Lines: lines,
	}
	return nil
}

// EncodeRejects turns rejected lines into an Arrow IPC stream.
func EncodeRejects(rejects []Reject) ([]byte, error) {
	n := len(rejects)
	lines, files, reasons, texts := make([]int64, n), make([]string, n), make([]string, n), make([]string, n)
	for i, r := range rejects {
		lines[i], files[i], reasons[i], texts[i] = r.Line, r.File, r.Reason, r.Text
	}
	return encode(arrow.NewSchema(columns("file", "reason", "text"), nil), lines, files, reasons, texts)
}

// DecodeRejects reads what EncodeRejects wrote.
func DecodeRejects(element []byte) ([]Reject, error) {
	_, lines, texts, err := decode(element, 3)
	if err != nil {
		return nil, fmt.Errorf("decoding rejected lines: %w", err)
	}
	rejects := make([]Reject, len(lines))
	for i := range rejects {
		rejects[i] = Reject{File: texts[0][i], Line: lines[i], Reason: texts[1][i], Text: texts[2][i]}
	}
	return rejects, nil
}

// encode writes string columns and, last, the line numbers.
func encode(schema *arrow.Schema, lines []int64, texts ...[]string) ([]byte, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, text := range texts {
		b.Field(i).(*array.StringBuilder).AppendValues(text, nil)
	}
	b.Field(len(texts)).(*array.Int64Builder).AppendValues(lines, nil)
	record := b.NewRecord()
	defer record.Release()
	return tables.EncodeBatch(record)
}

// decode reads what encode wrote. The strings share the element's memory.
func decode(element []byte, count int) (m arrow.Metadata, lines []int64, texts [][]string, err error) {
	record, err := tables.DecodeBatch(element)
	if err != nil {
		return m, nil, nil, err
	}
	if record.NumCols() != int64(count)+1 {
		return m, nil, nil, fmt.Errorf("%d columns: want %d", record.NumCols(), count+1)
	}
	texts = make([][]string, count)
	for i := range texts {
		column, ok := record.Column(i).(*array.String)
		if !ok {
			return m, nil, nil, fmt.Errorf("column %q is %s: want strings", record.ColumnName(i), record.Column(i).DataType())
		}
		texts[i] = make([]string, column.Len())
		for j := range texts[i] {
			texts[i][j] = column.Value(j)
		}
	}
	column, ok := record.Column(count).(*array.Int64)
	if !ok {
		return m, nil, nil, fmt.Errorf("column %q is %s: want int64", record.ColumnName(count), record.Column(count).DataType())
	}
	return record.Schema().Metadata(), append([]int64(nil), column.Int64Values()...), texts, nil
}
