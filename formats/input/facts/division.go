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
	"tagnet/formats/workspace/verdicts"
)

// startBytes is how much of a text shows its format and its columns.
const startBytes = 1 << 16

// Division is how a text of columns is divided into rows and fields.
type Division struct {
	// Separator separates fields: a tab, a comma, a semicolon or a bar.
	Separator rune
	// Quoted says that quotation marks around a field are not part of it.
	Quoted bool
	// Skipped is the number of lines before the heading or the first row. Comments of them begin with #, others are
	// blank or name the separator.
	Skipped, Comments int
	// Heading says that the line behind them has the usual names of columns. RowNames says that rows have a field more
	// than it, the first, as R writes them.
	Heading, RowNames bool
	// Verdicts says that a column has verdicts: by its name, or in a file without names by that of a workspace's.
	Verdicts bool
	// Empty says that there is no row, and no heading.
	Empty bool
}

// Divide finds out by the beginning of TSV or CSV how it is divided. The error of a text that can be divided in two
// ways shows both.
func Divide(ctx context.Context, url string, o Options) (Division, error) {
	start, more, err := beginning(ctx, url)
	if err != nil {
		return Division{}, err
	}
	d, err := divide(start, more, o)
	if err != nil {
		return d, fmt.Errorf("%s: %w", url, err)
	}
	d.Verdicts = d.Verdicts || !d.Heading && !o.Header && storage.Base(url) == verdicts.File
	return d, nil
}

// beginning returns the beginning of a text, unpacked, and whether there is more.
func beginning(ctx context.Context, url string) (start string, more bool, err error) {
	file, err := storage.Open(ctx, url)
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	text, err := triples.Unpack(url, file)
	if err != nil {
		return "", false, err
	}
	peeked, err := text.Peek(startBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, fmt.Errorf("reading %s: %w", url, err)
	}
	return string(peeked), err == nil, nil
}

// divide divides a text, of which there may be more than its beginning.
func divide(start string, more bool, o Options) (d Division, err error) {
	rest, separator := d.skip(start)
	switch d.Empty = !more && strings.TrimSpace(rest) == ""; {
	case d.Empty:
		return d, nil
	case separator != 0:
		d.Separator = separator
	case o.Format != CSV:
		d.Separator = '\t'
	default:
		if d.Separator, err = separatorOf(rest, more, o); err != nil {
			return d, err
		}
	}
	lines := slices.Collect(strings.Lines(rest))
	if more && len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last is cut
	}
	d.Quoted = d.Separator != '\t' || allQuoted(lines)
	if o.pairs {
		return d, nil
	}
	before := d.comments(lines, o)
	d.Skipped += before
	positions := len(o.Columns) > 0 && !NamedColumns(o.Columns) // of the heading, or of the rows
	if (d.Heading || o.Header) && before < len(lines) {
		d.RowNames = !positions && d.hasRowNames(lines[before:])
		names := d.ofLine(lines[before])
		if d.Separator != '\t' { // a quoted name may have several lines
			names = d.fields(strings.Join(lines[before:], ""))
		}
		_, err := verdicts.ColumnsOf(names, [3]int{})
		d.Verdicts = err == nil
	}
	return d, nil
}

// skip skips what spreadsheets write before all other lines: empty ones, and the separator as in
// sep=; which it returns.
func (d *Division) skip(start string) (rest string, separator rune) {
	rest = start
	for line := range strings.Lines(start) {
		of, named := strings.CutPrefix(strings.ToLower(strings.Trim(strings.TrimRight(line, "\r\n"), `"`)), "sep=")
		if !named && strings.TrimSpace(line) != "" {
			break
		}
		if found := []rune(of); named && (len(found) != 1 || found[0] != '\t' && !slices.Contains(separators, found[0])) {
			break
		} else if named {
			separator = found[0]
		}
		rest = rest[len(line):]
		d.Skipped++
	}
	return rest, separator
}

// separators are the characters that may separate the columns of CSV.
var separators = []rune{',', ';', '|'}

// separatorOf returns the separator of CSV: the one by which the first line has names of columns, or the only one by
// which all records have the same number of fields, three and more, or else the one that the first line has.
func separatorOf(start string, more bool, o Options) (rune, error) {
	rest := start
	for strings.HasPrefix(rest, "#") || strings.HasPrefix(strings.TrimLeft(rest, "\r"), "\n") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if rest != "" { // or all lines begin with #: they are rows
		start = rest
	}
	first, _, whole := strings.Cut(start, "\n")
	least := 3
	if o.pairs {
		least = 2
	}
	named := func(column string) bool { return slices.Contains(o.Columns, column) }
	var fit, strict []rune
	best, most := ',', 1
	for _, separator := range separators {
		fields := Division{Separator: separator}.ofLine(first)
		if _, heading := usual(fields); heading || NamedColumns(o.Columns) && slices.ContainsFunc(fields, named) {
			return separator, nil
		}
		if most == 1 && len(fields) > 1 {
			best, most = separator, len(fields)
		}
		if len(fields) < least || more && !whole {
			continue
		}
		if allHave(start, more, separator, len(fields), true) {
			fit = append(fit, separator)
		}
		if allHave(start, more, separator, len(fields), false) {
			strict = append(strict, separator)
		}
	}
	// Quotation marks that are only right by one separator show it.
	if len(strict) > 0 {
		fit = strict
	}
	switch len(fit) {
	case 0:
		return best, nil
	case 1:
		return fit[0], nil
	}
	var ways []string
	for _, separator := range fit[:2] {
		fields := Division{Separator: separator}.ofLine(first)
		ways = append(ways, fmt.Sprintf("by %q (%.99q)", separator, fields))
	}
	return 0, remedy.Errorf(remedy.Do("write sep=%c or sep=%c in a line of its own before the first", fit[0], fit[1]),
		"all lines can be divided %s", strings.Join(ways, " or "))
}

// allHave reports whether all records of CSV, but the last of a text that is cut, have a number of fields. Quotation
// marks may stand anywhere if lazy.
func allHave(text string, cut bool, separator rune, fields int, lazy bool) bool {
	records := csv.NewReader(strings.NewReader(text))
	records.Comma, records.LazyQuotes, records.FieldsPerRecord = separator, lazy, -1
	before := fields // of the record before, which is not the last
	for {
		record, err := records.Read()
		switch {
		case errors.Is(err, io.EOF):
			return cut || before == fields
		case before != fields:
			return false
		case err != nil:
			before = -1
		default:
			before = len(record)
		}
	}
}

// allQuoted reports whether every field of lines is in quotation marks, as R writes them: numbers, dates, logical
// values and missing ones need none. Blank lines and comments do not count.
func allQuoted(lines []string) (quoted bool) {
	for _, line := range lines {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		marks := 0
		for field := range strings.SplitSeq(line, "\t") {
			_, err := strconv.ParseFloat(field, 64)
			switch {
			case len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"':
				marks++
			case err != nil && strings.Trim(field, "0123456789-:. ") != "" && !slices.Contains([]string{"NA", "TRUE", "FALSE"}, field):
				return false
			}
		}
		if quoted = marks > 0; !quoted {
			return false
		}
	}
	return quoted
}

// ofLine returns the fields of a line with its end.
func (d Division) ofLine(line string) []string { return d.fields(strings.TrimRight(line, "\r\n")) }

// fields returns the fields of a row. In one that is read, a carriage return is part of the last.
func (d Division) fields(line string) []string {
	if d.Separator != '\t' {
		records := csv.NewReader(strings.NewReader(line))
		records.Comma, records.LazyQuotes = d.Separator, true
		if fields, err := records.Read(); err == nil {
			return fields
		}
		return []string{line}
	}
	fields := strings.Split(line, "\t")
	for i, field := range fields {
		if d.Quoted && len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"' {
			fields[i] = marks.Replace(field[1 : len(field)-1])
		}
	}
	return fields
}

// marks are quotation marks within quoted fields, as R writes them.
var marks = strings.NewReplacer(`\"`, `"`, `""`, `"`, `\\`, `\`)

// comments counts the first lines that begin with #: up to a heading or the first line without that is not blank,
// unless they look like facts. It returns how many lines there are before the heading or the first row.
func (d *Division) comments(all []string, o Options) (before int) {
	var comments []int
	width := func(i int) int { return len(d.ofLine(all[i])) }
	for i, line := range all {
		fields := d.ofLine(line)
		_, heading := usual(fields)
		heading = heading && !o.NoHeader
		switch {
		case !heading && strings.HasPrefix(line, "#"):
			comments = append(comments, i)
			continue
		case len(comments) > 0 && strings.TrimSpace(line) == "":
			continue
		}
		if before = i; len(comments) > 0 && !heading && len(fields) >= 3 {
			if last := comments[len(comments)-1]; width(last) == len(fields) {
				before, comments = last, comments[:len(comments)-1] // a row whose first field begins with #
			}
		}
		for _, comment := range comments {
			if width(comment) >= 3 && !heading && !o.Header {
				return 0 // facts, as far as one knows
			}
		}
		d.Comments, d.Heading = len(comments), heading
		return before
	}
	if slices.ContainsFunc(comments, func(i int) bool { return width(i) >= 3 }) {
		return 0
	}
	d.Comments = len(comments) // and nothing else
	return len(all)
}

// hasRowNames reports whether all lines but repetitions of the first have a field more than it, the first, which is
// another in each up to a repetition: not what a separator at the end of lines, or a note, makes one more.
func (d *Division) hasRowNames(lines []string) bool {
	if len(lines) < 2 {
		return false
	}
	fields, names := len(d.ofLine(lines[0])), map[string]bool{}
	ends := false // some line has a last field
	for _, line := range lines[1:] {
		row := d.ofLine(line)
		switch {
		case line == lines[0]:
			clear(names)
			continue
		case strings.TrimSpace(line) == "":
			continue
		case len(row) != fields+1, names[row[0]]:
			return false
		}
		names[row[0]], ends = true, ends || row[fields] != ""
	}
	return ends
}
