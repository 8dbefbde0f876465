package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"

	"tagnet/formats/input/rdf"
	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model"
	"tagnet/stages/predict/discover"
)

// The limits of requests about the list of new facts. mostMatches bounds the memory of a request.
const (
	mostListed  = 1000
	usualListed = 50
	mostMatches = 1 << 17
)

type listedFact struct {
	Position    int64      `json:"position"`
	Head        string     `json:"head"`
	Relation    string     `json:"relation"`
	Tail        string     `json:"tail"`
	Probability *float64   `json:"probability,omitempty"`
	Odds        string     `json:"odds,omitempty"`
	Hops        model.Hops `json:"hops"`
	Verdict     string     `json:"verdict,omitempty"`
}

type listResponse struct {
	// Name is that of the newest list, "" without one, Relations those of its facts. Facts is how many match.
	Name      string       `json:"name"`
	Relations []string     `json:"relations"`
	Facts     int          `json:"facts"`
	Listed    []listedFact `json:"listed"`
	// Judging is set if POST /verdicts takes verdicts.
	Judging bool `json:"judging"`
}

// listFormats are the values of format, and the types of what is answered.
var listFormats = map[string]string{"json": "application/json", "csv": "text/csv; charset=utf-8", "tsv": "text/tab-separated-values; charset=utf-8",
	"jsonl": "application/jsonl; charset=utf-8", "nt": "application/n-triples"}

// listOrders are the values of sort, and their columns; the list itself has the most probable first.
var listOrders = map[string]func(*listedFact) string{"probability": func(*listedFact) string { return "" },
	"head":     func(f *listedFact) string { return f.Head },
	"relation": func(f *listedFact) string { return f.Relation }, "tail": func(f *listedFact) string { return f.Tail }}

// among returns what a table has for the value of a parameter, or for the usual one without it.
func among[T any](p *values, name, usual string, table map[string]T) (value string, has T) {
	value = *cmp.Or(p.text(name), &usual)
	has, known := table[value]
	if !known {
		p.fail("%s is %q: want %s", name, value, strings.Join(slices.Sorted(maps.Keys(table)), ", "))
	}
	return value, has
}

// showList answers with the newest list of new facts of the run, or with a file of it.
func (s *server) showList(w http.ResponseWriter, r *http.Request) error {
	p := parameters(r, "relation", "name", "judged", "sort", "limit", "offset", "format")
	limit, offset := p.page(usualListed, mostListed)
	format, kind := among(p, "format", "json", listFormats)
	response, err := s.list(r.Context(), p)
	switch {
	case err != nil:
		return err
	case format != "json":
		w.Header().Set("Content-Disposition", `attachment; filename="facts.`+format+`"`)
		return write(w, http.StatusOK, kind, listFile(format, response.Listed))
	}
	response.Listed = response.Listed[min(offset, response.Facts):]
	response.Listed = response.Listed[:min(limit, len(response.Listed))]
	return writeJSON(w, http.StatusOK, response)
}

// list returns the newest list with all facts that match the parameters, in their order.
func (s *server) list(ctx context.Context, p *values) (response listResponse, err error) {
	response = listResponse{Listed: []listedFact{}, Relations: []string{}, Judging: s.takesVerdicts}
	keep, err := s.matching(ctx, p)
	if err != nil {
		return response, err
	}
	_, order := among(p, "sort", "probability", listOrders)
	if p.err != nil || s.workspace.Root() == "" {
		return response, p.err
	}
	if response.Name, err = s.workspace.NewestList(ctx); err != nil || response.Name == "" {
		return response, err
	}
	folder := s.workspace.Path(s.workspace.FactsFolder(response.Name))
	// One list at a time is in memory.
	if err := s.listing.Lock(ctx); err != nil {
		return response, err
	}
	defer s.listing.Unlock()
	relations := map[string]bool{}
	err = parquet.EachPart(ctx, storage.Join(folder, discover.Table), func(rows []parquet.Fact) error {
		for _, f := range rows {
			relations[f.Relation] = true
			listed := listedFact{f.Position, f.Head, f.Relation, f.Tail, f.Probability, model.Odds(f.Probability), model.Hops(f.Hops), ""}
			if keep(&listed) {
				response.Listed = append(response.Listed, listed)
			}
		}
		if len(response.Listed) > mostMatches {
			return invalid("more than %d facts match: want a relation or a name; all are in %s", mostMatches, storage.Join(folder, discover.Text))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = &failure{status: http.StatusServiceUnavailable, retry: 1, Text: "the list is being replaced; try again in 1 s"}
	}
	slices.SortStableFunc(response.Listed, func(a, b listedFact) int { return cmp.Compare(order(&a), order(&b)) })
	response.Facts, response.Relations = len(response.Listed), slices.Sorted(maps.Keys(relations))
	return response, err
}

// matching returns a function that sets a fact's verdict, and reports whether the parameters want the fact.
func (s *server) matching(ctx context.Context, p *values) (func(*listedFact) bool, error) {
	withJudged := p.flag("judged")
	if p.err != nil {
		return nil, p.err
	}
	judged, err := s.judged(ctx)
	relation, name, named := p.text("relation"), p.text("name"), map[string]bool{}
	if name != nil {
		found, _ := s.names.Containing(ctx, *name, len(s.model.Entities()))
		for _, entity := range found {
			named[entity] = true
		}
	}
	return func(f *listedFact) bool {
		f.Verdict = string(judged.Of[verdicts.Fact{Head: f.Head, Relation: f.Relation, Tail: f.Tail}].Judgment)
		return (withJudged || f.Verdict == "") && (relation == nil || f.Relation == *relation) && (name == nil || named[f.Head] || named[f.Tail])
	}, err
}

// listFile returns a file of facts: a table with a heading, JSON lines or N-Triples. Names are as in the other files of
// the format that this program writes.
func listFile(format string, list []listedFact) []byte {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	rows := [][]string{{"position", "head", "relation", "tail", "probability", "hops", "verdict"}}
	for _, f := range list {
		switch format {
		case "jsonl":
			_ = lines.Encode(f) // a buffer takes everything
		case "nt":
			fmt.Fprintf(&text, "%s %s %s .\n", rdf.Name(f.Head, false), rdf.Name(f.Relation, true), rdf.Name(f.Tail, false))
		default:
			probability, hops := optional(f.Probability, f.Hops)
			rows = append(rows, []string{fmt.Sprint(f.Position), f.Head, f.Relation, f.Tail, probability, hops, f.Verdict})
		}
	}
	switch format {
	case "csv":
		return csvOf(rows)
	case "tsv":
		for _, fields := range rows {
			for i, field := range fields {
				fields[i] = names.Field(field)
			}
			text.WriteString(strings.Join(fields, "\t") + "\n")
		}
	}
	return text.Bytes()
}
