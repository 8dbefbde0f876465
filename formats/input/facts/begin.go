package facts

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
)

// startBytes is how much of a text shows its columns.
const startBytes = 1 << 16

// Begins reads the beginning of TSV or CSV: how many lines of comments come first, and whether a heading of the usual
// names of columns follows.
func Begins(ctx context.Context, url string, o Options) (comments int, heading bool, err error) {
	file, err := storage.Open(ctx, url)
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	text, err := triples.Unpack(url, file)
	if err != nil {
		return 0, false, err
	}
	start, err := text.Peek(startBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, false, fmt.Errorf("reading %s: %w", url, err)
	}
	// Lines with # count as comments up to a heading or the first line without, unless they look like facts.
	var lines [][]string // lines that begin with #
	for line := range strings.Lines(string(start)) {
		fields := split(strings.TrimRight(line, "\r\n"), o.Format)
		_, heading = usual(fields)
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
				return 0, false, nil // facts, as far as one knows
			}
		}
		return len(lines), heading, nil
	}
	return 0, false, nil
}

// split returns the fields of a line.
func split(line string, format Format) []string {
	if format != CSV {
		return strings.Split(line, "\t")
	}
	records := csv.NewReader(strings.NewReader(line))
	records.Comma, records.LazyQuotes = comma(line), true
	fields, err := records.Read()
	if err != nil {
		return []string{line}
	}
	return fields
}

// comma returns the separator of CSV by its first line.
func comma(first string) rune {
	if !strings.Contains(first, ",") && strings.Contains(first, ";") {
		return ';'
	}
	return ','
}
