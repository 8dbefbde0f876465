package facts

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
)

// headings are the usual names of the three columns, in lower case.
var headings = [][3]string{
	{"head", "relation", "tail"}, {"subject", "predicate", "object"}, {"source", "relation", "target"},
	{"h", "r", "t"}, {"s", "p", "o"}, {"from", "relation", "to"}, {"head", "rel", "tail"}, {"source", "type", "target"},
	{"node1", "label", "node2"},                 // KGTK
	{"subject_id", "predicate_id", "object_id"}, // SSSOM
	{":start_id", ":type", ":end_id"},           // neo4j-admin
	{"_start", "_type", "_end"},                 // APOC
	{"start.id", "label", "end.id"},             // APOC, as JSON
}

// columnsFlag chooses head, relation and tail.
var columnsFlag = remedy.Flag("columns")

// HeaderRemedy says how to read a first line that may be a header.
var HeaderRemedy = remedy.Do("%v skips the first line of each file, %v reads it as a fact", remedy.Flag("header", "yes"), remedy.Flag("header", "no"))

// usual returns the positions of head, relation and tail, from 0, if fields have their usual names.
func usual(fields []string) (at [3]int, ok bool) {
	for _, heading := range headings {
		found := 0
		for i, name := range heading {
			at[i] = slices.IndexFunc(fields, func(f string) bool { return plain(f) == name })
			if at[i] >= 0 {
				found++
			}
		}
		if found == len(heading) {
			return at, true
		}
	}
	return at, false
}

// plain returns the name of a column in lower case, without the mark of a comment, or of a space of ids as
// in :START_ID(Person).
func plain(name string) string {
	name = strings.TrimLeft(strings.ToLower(strings.TrimSpace(name)), "# ")
	if name, _, space := strings.Cut(name, "_id("); space {
		return name + "_id"
	}
	return name
}

// IsHeading reports whether a name is usual for one of the three columns.
func IsHeading(name string) bool {
	return slices.ContainsFunc(headings, func(h [3]string) bool { return slices.Contains(h[:], plain(name)) })
}

// NamedColumns reports whether --columns gives names of columns, which a header must have, instead of positions.
func NamedColumns(columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { _, err := strconv.Atoi(c); return err != nil })
}

// choose returns the positions of head, relation and tail, from 0, in a table with these columns; fields is nil if
// they have no names.
func choose(columns, fields []string) ([3]int, error) {
	at := [3]int{0, 1, 2}
	if len(fields) == 1 && strings.Count(fields[0], ",") >= 2 {
		return at, remedy.Errorf(remedy.Do("say %v", remedy.Flag("format", CSV)), "the header has commas where tabs belong: %s", fields[0])
	}
	if len(columns) == 0 {
		if named, ok := usual(fields); ok {
			return named, nil
		}
		if fields != nil && len(fields) != 3 {
			return at, remedy.Errorf(remedy.Do("say with %v which are head, relation and tail", columnsFlag), "the columns are %s", strings.Join(fields, ", "))
		}
		return at, nil
	}
	for i, column := range columns {
		if j := slices.Index(fields, column); j >= 0 {
			if slices.Contains(fields[j+1:], column) {
				return at, remedy.Errorf(remedy.Do("give %v positions, such as 1,2,3, and %v", columnsFlag, remedy.Flag("header", "yes")),
					"two columns are named %q", column)
			}
			at[i] = j
			continue
		}
		position, err := strconv.Atoi(column)
		switch {
		case err != nil:
			return at, remedy.Errorf(remedy.Do("give %v others: there are %s", columnsFlag, strings.Join(fields, ", ")), "no column is named %q", column)
		case position < 1 || fields != nil && position > len(fields):
			return at, remedy.Errorf(remedy.Do("give %v others", columnsFlag), "there is no column %s", column)
		}
		at[i] = position - 1
	}
	return at, nil
}

// table chooses the columns of a text and reads its rows.
type table struct {
	url      string
	o        Options
	division Division
	at       [3]int
	columns  int // of the header, or 3, or 0 if rows may have any number
	width    int // the number of fields of the first row
	started  bool
	header   []string
	kgtk     kgtk
	again    int64 // lines that repeat the header
	unread   []unread
	judged   *judged // nil without a column of verdicts
	each     Each
	bad      Bad
}

// row reads a row. Errors show text for it.
func (t *table) row(line int, fields []string, text string) error {
	// The first row decides which fields are read, and may be a header.
	if !t.started {
		t.started = true
		if t.header = slices.Clone(fields); t.division.RowNames {
			fields = append([]string{""}, fields...)
		}
		var names []string
		if t.o.Header {
			names = fields
		}
		var err error
		if t.at, err = choose(t.o.Columns, names); err != nil {
			return fmt.Errorf("%s:%d: %w", t.url, line, err)
		}
		if t.o.Header && len(t.o.Columns) == 0 {
			if from, to := fields[t.at[0]], fields[t.at[2]]; spaceOfIDs(from) != spaceOfIDs(to) {
				return remedy.Errorf(remedy.Do("give each node an id of its own, then %v %s,%s,%s", columnsFlag, from, fields[t.at[1]], to),
					"%s:%d: %s and %s are ids of different spaces: one id in both would be one entity", t.url, line, from, to)
			}
		}
		t.unread, t.width = unreadOf(fields, names, t.at), len(fields)
		if t.division.Verdicts {
			t.judged = newJudged(names, t.at)
		}
		if t.o.Header {
			t.columns, t.kgtk = len(fields), kgtkOf(names)
			return nil
		}
		if len(t.o.Columns) == 0 {
			t.columns = 3
		}
	}
	// All other rows are facts or bad lines, or the header again, where files were put together.
	if t.o.Header && slices.Equal(fields, t.header) {
		t.again++
		return nil
	}
	if t.judged != nil {
		return t.judge(line, fields, text)
	}
	reason, help := t.wrong(fields, text)
	if reason != "" {
		return t.bad(triples.BadLine{File: t.url, Line: line, Reason: reason, Remedy: help, Text: triples.Shown([]byte(text))})
	}
	if t.kgtk.leavesOut(fields, t.at) {
		return nil
	}
	for i := range t.unread {
		t.unread[i].add(fields)
	}
	return t.each(line, Fact{fields[t.at[0]], fields[t.at[1]], fields[t.at[2]]})
}

// spaceOfIDs returns the brackets of a column such as :START_ID(Person).
func spaceOfIDs(column string) string {
	_, space, _ := strings.Cut(column, "_ID(")
	return space
}

// wrong returns why the fields of a row are no fact, with a remedy, or "".
func (t *table) wrong(fields []string, text string) (reason string, help remedy.Help) {
	number := plural(len(fields), "field")
	short := !t.o.Header && len(fields) < t.columns
	switch {
	case strings.TrimSpace(text) == "":
		return "blank line", remedy.Do("remove it")
	case t.o.Format == TSV && (short || len(fields) == 1 && strings.Contains(text, " ")):
		return triples.WrongCount([]byte(text), len(fields), 3, "head, relation and tail")
	case t.o.Format == CSV && len(fields) == 1 && strings.Contains(text, "\t"):
		return "tabs where commas belong", remedy.Do("read the file with %v", remedy.Flag("format", TSV))
	case t.o.Header && len(fields) != t.columns:
		return fmt.Sprintf("%s, but the header has %d", number, t.columns), remedy.Do("give every line the fields of the header")
	case short:
		return number + " instead of 3", remedy.Do("give every line a head, a relation and a tail, separated by commas")
	case !t.o.Header && t.columns > 0 && len(fields) > t.columns:
		return number + " instead of 3", remedy.Do("choose head, relation and tail with %v, such as 1,2,3, or by the names that a first line has", columnsFlag)
	case slices.Max(t.at[:]) >= len(fields):
		return fmt.Sprintf("%s, but field %d is chosen", number, slices.Max(t.at[:])+1),
			remedy.Do("give every line the same fields, or choose others with %v", columnsFlag)
	}
	return "", remedy.Help{}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// readRows reads TSV or CSV.
func readRows(ctx context.Context, url string, r io.Reader, o Options, each Each, bad Bad) (Counts, error) {
	d, err := Divide(ctx, url, o)
	if err != nil {
		return Counts{}, err
	}
	o.Header = o.Header || d.Heading
	t := &table{url: url, o: o, division: d, each: each, bad: bad}
	err = rowText{url, d, "head, relation and tail", ", separated by tabs"}.each(r, t.row, bad)
	counts := Counts{Division: &d, Columns: t.width, Comments: int64(d.Comments), HeadersAgain: t.again, Literals: t.kgtk.literals,
		Qualifiers: t.kgtk.qualifiers, Unread: columnsOf(t.unread)}
	if t.judged != nil && err == nil {
		err = t.judged.end(&counts, each)
	}
	return counts, err
}

// openTable finds out how a table beside the facts, which is tab-separated unless it is CSV, is divided, and opens it.
func openTable(ctx context.Context, url string, o Options) (d Division, file io.ReadCloser, err error) {
	if o.Format, err = Detect(ctx, url); err != nil {
		return d, nil, err
	}
	if o.Format != CSV {
		o.Format = TSV
	}
	if d, err = Divide(ctx, url, o); err != nil {
		return d, nil, err
	}
	file, err = storage.Open(ctx, url)
	return d, file, err
}

// rowText describes a text of TSV or CSV.
type rowText struct {
	url      string
	division Division
	// fields and separated say, in the error of an empty text, what a row has and, of TSV, how it is separated.
	fields, separated string
}

// each calls row for every row, with the text that messages show of it, and bad for a line that is none.
func (t rowText) each(r io.Reader, row func(line int, fields []string, text string) error, bad Bad) error {
	if separator := t.division.Separator; separator != '\t' {
		return t.eachRecord(r, func(line int, fields []string) error {
			return row(line, fields, strings.Join(fields, string(separator)))
		}, bad)
	}
	return triples.ReadLines(t.url, t.fields+t.separated, r, func(line int, text []byte) error {
		if line <= t.division.Skipped {
			return nil
		}
		return row(line, t.division.fields(string(text)), string(text))
	}, bad)
}

// eachRecord calls each for every record of CSV with the number of its first line, and bad for text that is none.
func (t rowText) eachRecord(r io.Reader, each func(line int, fields []string) error, bad Bad) error {
	text, err := triples.Unpack(t.url, r)
	if err != nil {
		return err
	}
	for range t.division.Skipped {
		if _, err := text.ReadSlice('\n'); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading %s: %w", t.url, err)
		}
	}
	if _, err := text.Peek(1); errors.Is(err, io.EOF) {
		return triples.EmptyError(t.url, t.fields)
	} else if err != nil {
		return fmt.Errorf("reading %s: %w", t.url, err)
	}
	// A record is bounded, or a missing quotation mark would read the rest of the file into memory.
	limited := &limitedReader{r: text}
	records := csv.NewReader(limited)
	records.FieldsPerRecord, records.ReuseRecord = -1, true
	records.Comma = t.division.Separator
	// The csv package counts lines after those that are skipped. It continues behind a record that is not CSV, but not
	// behind one that is too long.
	last := t.division.Skipped // line of the previous record
	for {
		limited.left = maxRecord
		fields, err := records.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLongRecord):
			return triples.BadLine{File: t.url, Line: last + 1, Reason: fmt.Sprintf("the record here does not end within %d bytes", triples.MaxLine),
				Remedy: remedy.Do("check for a missing quotation mark")}
		case errors.As(err, &wrong):
			b := triples.BadLine{File: t.url, Line: wrong.StartLine + t.division.Skipped, Reason: "not CSV: " + strings.TrimPrefix(wrong.Err.Error(), "csv: "),
				Remedy: remedy.Do("write a quotation mark within a quoted field twice, and quote fields that have one")}
			last = wrong.Line + t.division.Skipped
			if err := bad(b); err != nil {
				return err
			}
			continue
		case err != nil:
			return fmt.Errorf("reading %s: %w", t.url, err)
		}
		last, _ = records.FieldPos(0)
		last += t.division.Skipped
		if err := each(last, fields); err != nil {
			return err
		}
	}
}

// maxRecord bounds what is read for one record: its text and what the csv package reads ahead.
const maxRecord = triples.MaxLine + 1<<16

var errLongRecord = errors.New("a record is too long")

// limitedReader bounds the memory of a record whose closing quotation mark is missing.
type limitedReader struct {
	r    io.Reader
	left int
}

// Read returns errLongRecord once nothing is left.
func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongRecord
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
