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

// startBytes is how much of a text shows its columns.
const startBytes = 1 << 16

// Division is how a text of columns is divided into rows and fields.
type Division struct {
	// Separator separates fields: a tab, a comma, a semicolon or a bar.
	Separator rune
	// Quoted says that quotation marks around a field are not part of it.
	Quoted bool
	// Skipped is the number of lines before the heading or the first row. Comments of them begin with #.
	Skipped, Comments int
	// Heading says that the line behind them has the usual names of columns. RowNames says that rows have a field more
	// than it, the first, as R writes them.
	Heading, RowNames bool
	// Empty says that there is no row, and no heading.
	Empty bool
}

// Divide finds out by the beginning of TSV or CSV how it is divided. The error of a text that can be divided in two
// ways shows both.
func Divide(ctx context.Context, url string, o Options) (Division, error) {
	file, err := storage.Open(ctx, url)
	if err != nil {
		return Division{}, err
	}
	defer file.Close()
	text, err := triples.Unpack(url, file)
	if err != nil {
		return Division{}, err
	}
	start, err := text.Peek(startBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return Division{}, fmt.Errorf("reading %s: %w", url, err)
	}
	d, err := divide(string(start), err == nil, o)
	if err != nil {
		return d, fmt.Errorf("%s: %w", url, err)
	}
	return d, nil
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
	d.comments(lines, o)
	d.Skipped += d.Comments
	d.RowNames = (d.Heading || o.Header) && d.hasRowNames(lines[d.Comments:])
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

// separators are those of CSV.
var separators = []rune{',', ';', '|'}

// separatorOf returns the separator of CSV: the one by which the first line has names of columns, or the only one by
// which all records have the same number of fields, three and more, or else the one that the first line has.
func separatorOf(start string, more bool, o Options) (rune, error) {
	for strings.HasPrefix(start, "#") && strings.Contains(start, "\n") {
		_, start, _ = strings.Cut(start, "\n")
	}
	first, _, _ := strings.Cut(start, "\n")
	least := 3
	if o.pairs {
		least = 2
	}
	named := func(column string) bool { return slices.Contains(o.Columns, column) }
	var fit []rune
	best, most := ',', 1
	for _, separator := range separators {
		fields := Division{Separator: separator}.fields(strings.TrimRight(first, "\r"))
		if _, heading := usual(fields); heading || NamedColumns(o.Columns) && slices.ContainsFunc(fields, named) {
			return separator, nil
		}
		if most == 1 && len(fields) > 1 {
			best, most = separator, len(fields)
		}
		if len(fields) >= least && allHave(start, more, separator, len(fields)) {
			fit = append(fit, separator)
		}
	}
	switch len(fit) {
	case 0:
		return best, nil
	case 1:
		return fit[0], nil
	}
	var ways []string
	for _, separator := range fit[:2] {
		fields := Division{Separator: separator}.fields(strings.TrimRight(first, "\r"))
		ways = append(ways, fmt.Sprintf("by %q (%q)", separator, fields))
	}
	return 0, remedy.Errorf(remedy.Do("write sep=%c or sep=%c in a line of its own before the first", fit[0], fit[1]),
		"all lines can be divided %s", strings.Join(ways, " or "))
}

// allHave reports whether all records of CSV, but the last of a text that is cut, have a number of fields.
func allHave(text string, cut bool, separator rune, fields int) bool {
	records := csv.NewReader(strings.NewReader(text))
	records.Comma, records.LazyQuotes, records.FieldsPerRecord = separator, true, -1
	all, err := records.ReadAll()
	if cut && len(all) > 1 {
		all, err = all[:len(all)-1], nil
	}
	return err == nil && !slices.ContainsFunc(all, func(r []string) bool { return len(r) != fields })
}

// allQuoted reports whether every field of lines is in quotation marks, as R writes them: numbers and NA need none.
func allQuoted(lines []string) bool {
	for _, line := range lines {
		marks := 0
		for field := range strings.SplitSeq(strings.TrimRight(line, "\r\n"), "\t") {
			_, err := strconv.ParseFloat(field, 64)
			switch {
			case len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"':
				marks++
			case err != nil && field != "NA":
				return false
			}
		}
		if marks == 0 {
			return false
		}
	}
	return true
}

// fields returns the fields of a line.
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

// comments counts the first lines that begin with #: up to a heading or the first line without, unless they
// look like facts.
func (d *Division) comments(all []string, o Options) {
	var lines [][]string // lines that begin with #
	for _, line := range all {
		fields := d.fields(strings.TrimRight(line, "\r\n"))
		_, heading := usual(fields)
		heading = heading && !o.NoHeader
		if !heading && strings.HasPrefix(line, "#") {
			lines = append(lines, fields)
			continue
		}
		if last := len(lines) - 1; last >= 0 && !heading && len(fields) >= 3 && len(lines[last]) == len(fields) {
			lines = lines[:last] // a row whose first field begins with #
		}
		for _, comment := range lines {
			if len(comment) >= 3 && !heading && !o.Header {
				return // facts, as far as one knows
			}
		}
		d.Comments, d.Heading = len(lines), heading
		return
	}
}

// hasRowNames reports whether all lines but repetitions of the first have a field more than it.
func (d *Division) hasRowNames(lines []string) bool {
	if len(lines) < 2 {
		return false
	}
	fields := len(d.fields(strings.TrimRight(lines[0], "\r\n")))
	return !slices.ContainsFunc(lines[1:], func(line string) bool {
		return line != lines[0] && len(d.fields(strings.TrimRight(line, "\r\n"))) != fields+1
	})
}
