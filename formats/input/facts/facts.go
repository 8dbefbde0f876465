package facts

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"tagnet/formats/input/rdf"
	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
)

// Format is how facts are written in a file.
type Format string

// The formats.
const (
	TSV      Format = "tsv"
	CSV      Format = "csv"
	JSONL    Format = "jsonl"
	NTriples Format = "ntriples"
	NQuads   Format = "nquads"
	Turtle   Format = "turtle"
	Parquet  Format = "parquet"
	OpenKE   Format = "openke"
)

// Formats lists all formats.
var Formats = []Format{TSV, CSV, JSONL, NTriples, NQuads, Turtle, Parquet, OpenKE}

// packings are the endings of compressed files, which may follow another ending.
var packings = []string{".gz", ".bz2", ".zst"}

// unpackedName returns the name of a file without the endings of packings.
func unpackedName(name string) string {
	for _, packing := range packings {
		name = strings.TrimSuffix(name, packing)
	}
	return name
}

// endings are the endings of the names of files. That of text is any that has lines.
var endings = map[string]Format{
	".tsv": TSV, ".csv": CSV, ".jsonl": JSONL, ".ndjson": JSONL, ".nt": NTriples, ".nq": NQuads, ".ttl": Turtle, ".parquet": Parquet, ".pq": Parquet,
	".txt": "",
}

// Stem returns the name of a file without the endings of its format and compression, and false if it has no ending
// of a format.
func Stem(name string) (stem string, ok bool) {
	stem = unpackedName(name)
	dot := strings.LastIndexByte(stem, '.')
	if dot < 0 {
		return name, false
	}
	_, ok = endings[strings.ToLower(stem[dot:])]
	return stem[:dot], ok
}

// ending returns the ending of a file's name in lower case: ".tsv" for a.TSV.gz.
func ending(name string) string {
	stem, _ := Stem(name)
	return unpackedName(strings.ToLower(name[len(stem):]))
}

// MayBe reports whether the name of a file leaves it open that it has a format.
func MayBe(name string, format Format) bool {
	implied, known := endings[ending(name)]
	return !known || implied == "" || implied == format
}

// Detect returns the format of a file by the ending of its name, or by its first line where the ending leaves it
// open. Of a file that is known and not read, the error says what to do.
func Detect(ctx context.Context, url string) (Format, error) {
	if format := endings[ending(storage.Base(url))]; format != "" {
		return format, nil
	}
	if other := Foreign(storage.Base(url)); other != "" {
		return "", fmt.Errorf("%s is %s", url, other)
	}
	start, _, err := beginning(ctx, url)
	if err != nil {
		return "", err
	}
	if other := foreignText(start); other != "" {
		return "", fmt.Errorf("%s is %s", url, other)
	}
	return detectByStart(start), nil
}

// detectByStart returns the format of a text that begins so.
func detectByStart(start string) Format {
	if strings.HasPrefix(start, "PAR1") {
		return Parquet
	}
	for line := range strings.Lines(start) {
		line = strings.TrimSpace(line)
		upper := strings.ToUpper(line)
		switch {
		case line == "" || line[0] == '#' && !strings.Contains(line, "\t"):
			continue
		case strings.HasPrefix(upper, "@PREFIX ") || strings.HasPrefix(upper, "PREFIX ") || strings.HasPrefix(upper, "@BASE ") ||
			strings.HasPrefix(upper, "BASE "):
			return Turtle
		case (line[0] == '<' || strings.HasPrefix(line, "_:")) && strings.HasSuffix(line, "."):
			if rdf.IsQuad(line) {
				return NQuads
			}
			return NTriples
		case isObject(line):
			return JSONL
		case strings.HasPrefix(strings.ToLower(line), "sep="):
			continue
		case !strings.Contains(line, "\t") && max(strings.Count(line, ","), strings.Count(line, ";"), strings.Count(line, "|")) >= 2:
			return CSV
		}
		break
	}
	return TSV
}

// Fact is a fact by names.
type Fact struct{ Head, Relation, Tail string }

// Options say how facts are written in a file.
type Options struct {
	Format Format
	// Columns are the names or the positions, from 1, of the columns of head, relation and tail in TSV, CSV, JSON lines
	// and Parquet. Without them a file has just these three, in this order, or under their usual names.
	Columns []string
	// Header says that the first row of TSV or CSV has the names of the columns, NoHeader that it is a fact. With
	// neither, it has them if they are usual.
	Header, NoHeader bool
	// Prefixes shortens IRIs.
	Prefixes *rdf.Prefixes
	// Document is the name of a file among several, whose blank nodes are others in each. Without it
	// they keep their labels.
	Document string
	// pairs says that the text is a table of Pairs.
	pairs bool
	// Entities and Relations are the names that stand for what is in the file; nil keeps that.
	Entities, Relations *Labels
}

// Counts counts what a file has beside facts and bad lines.
type Counts struct {
	// Literals are statements whose object is a literal, of RDF or KGTK: they are not about two entities. Qualifiers
	// are rows of KGTK about other rows, Blank statements about blank nodes with a label.
	Literals, Qualifiers, Blank int64
	// Division says how TSV or CSV is divided, nil for other formats, and Columns the number of its columns.
	Division *Division
	Columns  int
	// Comments are the lines before the facts that begin with #, HeadersAgain those that repeat the names of columns.
	Comments, HeadersAgain int64
	// JudgedFalse are the facts that a column of verdicts judges false, Unjudged the rows on which none counts.
	JudgedFalse []Fact
	Unjudged    int64
	// Unread are the columns other than head, relation and tail.
	Unread []Column
}

// Each receives a fact and the number of its line or row, from 1.
type Each func(line int, f Fact) error

// Bad receives a line that is not a fact.
type Bad func(triples.BadLine) error

// Read calls each for every fact of a file, in order, and bad for every other line. It stops at the first error that
// one of them returns. A Turtle file with a syntax error, and a table that is damaged, are errors too: what follows
// cannot be read. The error of a file without rows wraps triples.ErrEmpty.
func Read(ctx context.Context, url string, o Options, each Each, bad Bad) (Counts, error) {
	file, err := storage.OpenRandom(ctx, url)
	if err != nil {
		return Counts{}, err
	}
	defer file.Close()
	// Names are labeled and checked here, for all formats.
	checked := func(line int, f Fact) error {
		reason, help := o.rename(&f)
		if reason == "" {
			reason, help = triples.Check(f.Head, f.Relation, f.Tail)
		}
		if reason != "" {
			return bad(triples.BadLine{File: url, Line: line, Reason: reason, Remedy: help,
				Text: triples.Shown([]byte(f.Head + "\t" + f.Relation + "\t" + f.Tail))})
		}
		return each(line, f)
	}
	text := storage.Interruptible(ctx, file) // a file may have many lines that are no facts
	switch o.Format {
	case TSV, CSV:
		return readRows(ctx, url, text, o, checked, bad)
	case JSONL:
		return readObjects(url, text, o, checked, bad)
	case NTriples, NQuads, Turtle:
		return readStatements(url, text, o, checked, bad)
	case Parquet:
		return readParquet(ctx, url, file, o, checked, bad)
	case OpenKE:
		return Counts{}, readNumbers(url, text, checked, bad)
	}
	return Counts{}, fmt.Errorf("%s: unknown format %q", url, o.Format)
}

// rename replaces ids by names.
func (o Options) rename(f *Fact) (reason string, help remedy.Help) {
	for _, n := range []struct {
		labels *Labels
		kind   string
		name   *string
	}{{o.Entities, "entity", &f.Head}, {o.Entities, "entity", &f.Tail}, {o.Relations, "relation", &f.Relation}} {
		if n.labels == nil || *n.name == "" {
			continue
		}
		name, found := n.labels.Name(*n.name)
		if !found {
			return fmt.Sprintf("%s %q is not in %s", n.kind, *n.name, n.labels.url), remedy.Do("add it there")
		}
		*n.name = name
	}
	return "", remedy.Help{}
}

// Prefixes adds the prefixes that a file declares, if it is Turtle.
func Prefixes(ctx context.Context, url string, format Format, p *rdf.Prefixes) error {
	if format != Turtle {
		return nil
	}
	file, err := storage.Open(ctx, url)
	if err != nil {
		return err
	}
	defer file.Close()
	return rdf.ReadTurtle(url, storage.Base(url), storage.Interruptible(ctx, file), p.Add, func(int, rdf.Statement) error { return nil })
}

// readStatements reads N-Triples, N-Quads or Turtle.
func readStatements(url string, r io.Reader, o Options, each Each, bad Bad) (Counts, error) {
	var counts Counts
	labeled := func(t *rdf.Term) (is bool) {
		if is = t.Kind == rdf.Blank && !strings.HasPrefix(t.Value, "["); is && o.Document != "" {
			t.Value = "[" + o.Document + "]" + t.Value
		}
		return is
	}
	statement := func(line int, s rdf.Statement) error {
		if s.Object.Kind == rdf.Literal {
			counts.Literals++
			return nil
		}
		if subject, object := labeled(&s.Subject), labeled(&s.Object); subject || object {
			counts.Blank++
		}
		return each(line, Fact{o.Prefixes.Name(s.Subject), o.Prefixes.Name(s.Predicate), o.Prefixes.Name(s.Object)})
	}
	switch o.Format {
	case NTriples:
		return counts, rdf.ReadNTriples(url, r, statement, bad)
	case NQuads:
		return counts, rdf.ReadNQuads(url, r, statement, bad)
	}
	err := rdf.ReadTurtle(url, cmp.Or(o.Document, storage.Base(url)), r, nil, statement)
	return counts, err
}
