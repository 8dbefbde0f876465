package facts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
)

// Pairs is a kind of table beside the facts. Its names of columns are in lower case, the likeliest first.
type Pairs struct {
	what         string
	keys, values []string
}

var ids = []string{"id", ":id", "entity", "entity_id", "node", "node_id", "node1", "relation", "relation_id", "property", "key", "curie", "iri", "uri",
	"subject"}

// The kinds of tables: the types of entities, and the names that stand for ids.
var (
	TypesOf = Pairs{"an entity and its type", append(slices.Clone(ids), "name", "label"),
		[]string{"type", "kind", "class", "category", ":label", "node2", "object"}}
	NamesOf = Pairs{"an id and its name", ids, []string{"label", "name", "title", "preflabel"}}
)

// PairColumns are the two columns of a table that are read.
type PairColumns struct {
	// Names are their names if the first line has them, or empty. Left are those of all other columns.
	Names [2]string
	Left  []string
	at    [2]int
}

// Key says which column is that of ids or entities.
func (c PairColumns) Key() string {
	if c.Names[0] == "" {
		return "its first column"
	}
	return fmt.Sprintf("its column %q", c.Names[0])
}

// choose returns the columns of a table by its first row.
func (p Pairs) choose(row []string) (c PairColumns, err error) {
	names := make([]string, len(row))
	for i, name := range row {
		names[i] = plain(name)
	}
	for i, usual := range [2][]string{p.keys, p.values} {
		c.at[i] = -1
		for _, name := range usual {
			if at := slices.Index(names, name); at >= 0 && c.at[i] < 0 && (i == 0 || at != c.at[0]) {
				c.at[i] = at
			}
		}
	}
	if of, to := slices.Index(names, "node1"), slices.Index(names, "node2"); of >= 0 && to >= 0 {
		c.at = [2]int{of, to} // of KGTK, whose label is the relation
	}
	switch key, value := c.at[0] >= 0, c.at[1] >= 0; {
	case key && value:
		c.Names = [2]string{row[c.at[0]], row[c.at[1]]}
	case key != value && len(row) > 2:
		return c, remedy.Errorf(remedy.Do("name them %s and %s, or leave only these two", p.keys[0], p.values[0]),
			"the columns are %s: which are %s?", strings.Join(row, ", "), p.what)
	default:
		c.at = [2]int{0, 1}
	}
	for i, name := range row {
		switch {
		case slices.Contains(c.at[:], i):
		case c.Names == [2]string{}, name == "":
			c.Left = append(c.Left, fmt.Sprintf("column %d", i+1))
		default:
			c.Left = append(c.Left, name)
		}
	}
	return c, nil
}

// Read calls each for every row of a table but that of the columns' names, and bad for other lines.
func (p Pairs) Read(ctx context.Context, url string, each func(line int, key, value string) error, bad Bad) (columns PairColumns, err error) {
	d, file, err := openTable(ctx, url, Options{pairs: true})
	if err != nil {
		return columns, err
	}
	defer file.Close()
	first := true
	err = rowText{url, d, "two fields", ", separated by a tab"}.each(storage.Interruptible(ctx, file),
		func(line int, fields []string, text string) error {
			if first {
				first = false
				if columns, err = p.choose(fields); err != nil {
					return fmt.Errorf("%s:%d: %w", url, line, err)
				}
				if columns.Names != ([2]string{}) {
					return nil
				}
			}
			reason, help := "", remedy.Do("give every line two fields")
			if len(fields) <= max(columns.at[0], columns.at[1]) {
				reason = plural(len(fields), "field") + " instead of 2"
			}
			for i := 0; i < 2 && reason == ""; i++ {
				reason, help = triples.CheckName(fmt.Sprintf("field %d", columns.at[i]+1), fields[columns.at[i]])
			}
			if reason != "" {
				return bad(triples.BadLine{File: url, Line: line, Reason: reason, Remedy: help, Text: triples.Shown([]byte(text))})
			}
			return each(line, fields[columns.at[0]], fields[columns.at[1]])
		}, bad)
	return columns, err
}
