package ask

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
)

// TestMistakes checks that each ends with its code, one line that says what and where, and no output.
func TestMistakes(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	queries := func(text string) []string { return []string{"--queries", scoringtest.File(t, "queries.tsv", text)} }
	for name, c := range map[string]struct {
		flags []string
		code  int
		want  []string
	}{
		"neither":           {nil, 2, []string{"ask answers the queries of a file, --queries FILE, or those of relations"}},
		"both":              {[]string{"--queries", "q.tsv", "--relation", "next"}, 2, []string{"give one of the two"}},
		"an unset variable": {[]string{"--queries", ""}, 2, []string{`--queries is ""`}},
		"no top_k":          {[]string{"--relation", "next", "--top_k", "0"}, 2, []string{"--top_k is 0: want 1 or more"}},
		"no file":           {[]string{"--queries", "absent.tsv"}, 2, []string{"--queries: absent.tsv does not exist; the folder . has "}},
		"unknown entity": {queries("e003\tnext\ne0003\tnext\n"), 1,
			[]string{"queries.tsv:2: unknown entity \"e0003\"; closest: \"e000\", \"e003\"", "; --on_unknown skip answers the other lines"}},
		"unknown relation": {queries("e003\tnexd\n"), 1, []string{"queries.tsv:1: unknown relation \"nexd\"; closest: \"next\""}},
		"spaces":           {queries("e003 next\n"), 1, []string{"queries.tsv:1:"}},
		"CSV": {queries("e003,next\n"), 1, []string{"queries.tsv:1: commas where tabs belong; separate source and relation by a tab, " +
			"or head, relation and tail of triples by two, without a line of columns' names"}},
		"a blank line":  {queries("e003\tnext\n\ne004\tnext\n"), 1, []string{"queries.tsv:2: blank line; remove it"}},
		"four fields":   {queries("e003\tnext\te004\te005\n"), 1, []string{"queries.tsv:1: 4 fields instead of 2"}},
		"NUL":           {queries("e003\tne\x00xt\n"), 1, []string{"queries.tsv:1:"}},
		"not UTF-8":     {queries("e003\tne\xffxt\n"), 1, []string{"queries.tsv:1:"}},
		"an empty file": {queries(""), 1, []string{"queries.tsv"}},
		"a long name": {queries(strings.Repeat("x", 4000) + "\tnext\n"), 1,
			[]string{"queries.tsv:1: unknown entity \"xxx", "xx\"... (4000 bytes); closest: \"e000\""}},
		"no such relation": {[]string{"--relation", "next,nexd"}, 2, []string{"--relation: unknown relation \"nexd\"; closest: \"next\""}},
		"none is left":     {[]string{"--relation", "next,-next"}, 2, []string{"--relation next,-next leaves no relation: give some, or all"}},
		"missing of all": {[]string{"--relation", "next", "--missing", "1.1"}, 2,
			[]string{`--missing is "1.1": want a share of the graph's facts, more than 0 and at most 1`}},
		"missing of none": {[]string{"--relation", "next", "--missing", "nxt=.5"}, 2, []string{"--missing: ", `"nxt"`, `"next"`}},
		"no such graph":   {[]string{"--relation", "next", "--graph", "test"}, 2, []string{"--graph", "want one of all, train"}},
		"no types":        {[]string{"--relation", "next", "--sources", "type:Drug"}, 2, []string{"--sources: the graph has no entity types"}},
		"no list":         {[]string{"--relation", "next", "--candidates", "absent.txt"}, 2, []string{"--candidates", "absent.txt"}},
		"entity for a list": {[]string{"--relation", "next", "--sources", "e003"}, 2,
			[]string{"--sources: e003 is an entity, but no file: give a file with a name on each line"}},
		"two lists of input": {[]string{"--relation", "next", "--sources", "-", "--candidates", "-"}, 2, []string{"standard input can be read only once"}},
		"output elsewhere":   {[]string{"--relation", "next", "--output", "../up"}, 2, []string{"--output is ../up"}},
		"unknown in a list": {[]string{"--relation", "next", "--sources", scoringtest.File(t, "list.txt", "e003\ne0003\n")}, 1,
			[]string{"list.txt:2: unknown entity \"e0003\"; closest: \"e000\", \"e003\""}},
		"paths": {[]string{"--relation", "next", "--paths", "1001"}, 2, []string{"--paths is 1001: want 1 to 1000"}},
		"memory to explain": {[]string{"--relation", "next", "--explain", "--threads", "1", "--memory", "18"}, 2,
			[]string{"--memory 18 is too small: answering on this graph and explaining with 1 thread takes at least"}},
		"unknown of a list": {[]string{"--relation", "next", "--on_unknown", "skip"}, 2, []string{"--on_unknown is for the lines of --queries"}},
		"sources of a file": {[]string{"--queries", "q.tsv", "--sources", "all"}, 2, []string{"--sources is for --relation"}},
	} {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: c.code, Says: c.want}, append([]string{"--workspace", w}, c.flags...)...)
			if files := pipelinetest.Files(t, filepath.Join(w, "runs/main/answers")); len(files) > 0 {
				t.Errorf("it leaves %d files", len(files))
			}
		})
	}
}

// TestTakenOver checks that a run that lost its folder to another one writes nothing there.
func TestTakenOver(t *testing.T) {
	queries := scoringtest.File(t, "queries.tsv", "e000\tnext\n")
	pipelinetest.TakenOver(t, Pipeline(), scoringtest.Trained(t, "plain"), "runs/main/answers/queries", "--device", "cpu", "--queries", queries)
}
