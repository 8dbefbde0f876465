package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/rdf"
	"tagnet/formats/input/triples"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/stagetest"
)

// hurtful are names of the listed graph: with markup, with separators of files, an IRI, and one that turns the writing.
var hurtful = strings.NewReplacer("e003", markup, "e004", `B, "C"; D`, "e005", "http://e/x", "e006", "Zoë \u202eturn", "skip", "<b>skips</b>")

// listed returns a workspace with a list of the facts that a ring lacks, whose names hurt.
func listed(t testing.TB) string {
	t.Helper()
	return pipelinetest.Template(t, "listed", func(workspace string) {
		files := pipelinetest.Ring("e", 60)
		for name, text := range files {
			files[name] = hurtful.Replace(text)
		}
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, files))
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "3", "--dim", "8", "--epochs", "3", "--learning_rate", "0.02",
			"--negatives", "8")
		pipelinetest.Succeed(t, discover.Pipeline(), "--workspace", workspace, "--top_k", "3", "--most", "300")
	})
}

// startListed serves a workspace, and takes verdicts, unless change says otherwise.
func startListed(t testing.TB, root string, change ...func(o *settings)) (*server, string) {
	t.Helper()
	m, err := model.Open(t.Context(), root, model.WithWorkers(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return start(t, append([]func(o *settings){func(o *settings) {
		o.model, o.workspace, o.takesVerdicts = m, workspace.New(root), true
	}}, change...)...)
}

// rowsOf returns the facts of a list of a workspace.
func rowsOf(t testing.TB, workspace, name string) []parquet.Fact {
	t.Helper()
	return stagetest.Rows[parquet.Fact](t, filepath.Join(workspace, "runs/main/facts", name, "facts"))
}

// wantList returns the path of a request for the list.
func wantList(parameters ...string) string {
	v := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		v.Set(parameters[i], parameters[i+1])
	}
	return "/list?" + v.Encode()
}

// TestList compares pages of the list with its table, by relation, by names and in other orders.
func TestList(t *testing.T) {
	w := listed(t)
	_, address := startListed(t, w)
	rows := rowsOf(t, w, "all")
	get := func(parameters ...string) listResponse {
		return read[listResponse](t, send(t, "GET", address+wantList(parameters...), ""))
	}
	positions := func(keep func(f parquet.Fact) bool) (of []int64) {
		for _, f := range rows {
			if keep(f) {
				of = append(of, f.Position)
			}
		}
		return of
	}
	all := func(parquet.Fact) bool { return true }
	column := func(of func(f parquet.Fact) string) []int64 {
		sorted := slices.Clone(rows)
		slices.SortStableFunc(sorted, func(a, b parquet.Fact) int { return strings.Compare(of(a), of(b)) })
		var positions []int64
		for _, f := range sorted {
			positions = append(positions, f.Position)
		}
		return positions
	}
	for name, c := range map[string]struct {
		parameters []string
		want       []int64
	}{
		"all":      {nil, positions(all)},
		"relation": {[]string{"relation", "<b>skips</b>"}, positions(func(f parquet.Fact) bool { return f.Relation == "<b>skips</b>" })},
		"accents": {[]string{"name", "ZOE"}, positions(func(f parquet.Fact) bool {
			return strings.HasPrefix(f.Head, "Zoë") || strings.HasPrefix(f.Tail, "Zoë")
		})},
		"of a name":   {[]string{"name", "IMG"}, positions(func(f parquet.Fact) bool { return f.Head == markup || f.Tail == markup })},
		"nobody":      {[]string{"name", "nobody"}, nil},
		"nothing":     {[]string{"relation", "likes"}, nil},
		"by head":     {[]string{"sort", "head"}, column(func(f parquet.Fact) string { return f.Head })},
		"by relation": {[]string{"sort", "relation"}, column(func(f parquet.Fact) string { return f.Relation })},
		"by tail":     {[]string{"sort", "tail"}, column(func(f parquet.Fact) string { return f.Tail })},
	} {
		var got []int64
		for offset := 0; ; offset += 70 {
			page := get(append(c.parameters, "limit", "70", "offset", fmt.Sprint(offset))...)
			if page.Name != "all" || page.Facts != len(c.want) || !slices.Equal(page.Relations, []string{"<b>skips</b>", "back", "next"}) || !page.Judging {
				t.Fatalf("%s: %q with %d facts of %q, judging %v; want %d facts", name, page.Name, page.Facts, page.Relations, page.Judging, len(c.want))
			}
			if len(page.Listed) == 0 {
				if beyond := get("limit", "70", "offset", fmt.Sprint(math.MaxInt)); len(beyond.Listed) > 0 {
					t.Errorf("%d facts beyond the list", len(beyond.Listed))
				}
				break
			}
			for _, f := range page.Listed {
				row := rows[f.Position-1]
				want := listedFact{row.Position, row.Head, row.Relation, row.Tail, row.Probability, model.Odds(row.Probability), model.Hops(row.Hops), ""}
				if diff := cmp.Diff(want, f); diff != "" {
					t.Fatalf("%s (-table +page):\n%s", name, diff)
				}
				got = append(got, f.Position)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || len(rows) != 300 {
			t.Errorf("%s, of %d facts (-want +got):\n%s", name, len(rows), diff)
		}
	}
	for parameter, says := range map[string]string{
		"sort=odds": `sort is "odds": want head, probability, relation, tail`, "format=xml": `format is "xml": want csv, json, jsonl, nt, tsv`,
		"judged=1": `judged is "1"`, "limit=1001": "limit is 1001: want 1 to 1000", "offset=-1": "offset is -1",
	} {
		if got := send(t, "GET", address+"/list?"+parameter, ""); got.status != 400 || !strings.Contains(read[failure](t, got).Text, says) {
			t.Errorf("%s: status %d: %s", parameter, got.status, got.text)
		}
	}
}

// TestNewestList has no list, one that is not complete, and two.
func TestNewestList(t *testing.T) {
	w := listed(t)
	_, address := startListed(t, w)
	name := func() string { return read[listResponse](t, send(t, "GET", address+"/list", "")).Name }
	pipelinetest.Succeed(t, discover.Pipeline(), "--workspace", w, "--top_k", "3", "--relation", "next", "--output", "later", "--most", "5")
	pipelinetest.Write(t, filepath.Join(w, "runs/main/facts/later.new/manifest.json"), "{}")
	if got := name(); got != "later" {
		t.Errorf("the newest list is %q", got)
	}
	pipelinetest.Remove(t, filepath.Join(w, "runs/main/facts/later/manifest.json"))
	if got := name(); got != "all" {
		t.Errorf("without a complete one it is %q", got)
	}
	pipelinetest.Remove(t, filepath.Join(w, "runs/main/facts/all/facts"))
	if got := send(t, "GET", address+"/list", ""); got.status != 503 || got.header.Get("Retry-After") != "1" {
		t.Errorf("status %d of a list without its table: %s", got.status, got.text)
	}
	pipelinetest.Remove(t, filepath.Join(w, "runs/main/facts"))
	if got := send(t, "GET", address+"/list?format=csv", ""); got.status != 200 || strings.Count(got.text, "\n") != 1 || name() != "" {
		t.Errorf("without a list: status %d, %q", got.status, got.text)
	}
}

// TestListFiles reads the files of a list again, with names that hurt.
func TestListFiles(t *testing.T) {
	w := listed(t)
	_, address := startListed(t, w)
	rows := rowsOf(t, w, "all")
	want := make([][3]string, len(rows))
	for i, f := range rows {
		want[i] = [3]string{f.Head, f.Relation, f.Tail}
	}
	judged := rows[7]
	send(t, "POST", address+"/verdicts", verdictOf(t, judged, "true"))
	folder := t.TempDir()
	for format, kind := range map[string]string{"csv": "text/csv; charset=utf-8", "tsv": "text/tab-separated-values; charset=utf-8",
		"jsonl": "application/jsonl; charset=utf-8", "nt": "application/n-triples"} {
		got := send(t, "GET", address+"/list?judged=true&limit=3&format="+format, "")
		if file := got.header.Get("Content-Disposition"); got.status != 200 || got.header.Get("Content-Type") != kind ||
			file != `attachment; filename="facts.`+format+`"` {
			t.Fatalf("%s: status %d, %v", format, got.status, got.header)
		}
		path := filepath.Join(folder, "facts."+format)
		var all [][3]string
		switch format {
		case "csv", "tsv":
			comma, end := map[string]string{"csv": ",", "tsv": "\t"}[format], map[string]string{"csv": "\r\n", "tsv": "\n"}[format]
			heading := strings.Join([]string{"position", "head", "relation", "tail", "probability", "hops", "verdict"}, comma) + end
			if !strings.HasPrefix(got.text, heading) || strings.Count(got.text, comma+"true"+end) != 1 ||
				!strings.Contains(got.text, comma+fmt.Sprint(*judged.Probability)+comma+fmt.Sprint(judged.Hops)+comma+"true"+end) {
				t.Errorf("%.300q", got.text)
			}
			if escaped := strings.Contains(got.text, `"Zoë \u202eturn"`); escaped != (format == "tsv") {
				t.Errorf("%s: names are escaped: %v", format, escaped)
			}
			pipelinetest.Write(t, path, strings.ReplaceAll(got.text, comma+end, comma+"true"+end)) // as filled in by a person
			err := facts.ReadVerdicts(t.Context(), path, func(v verdicts.Verdict) error {
				all = append(all, [3]string{v.Head, v.Relation, v.Tail})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		case "jsonl":
			for line := range strings.Lines(got.text) {
				var f listedFact
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				all = append(all, [3]string{f.Head, f.Relation, f.Tail})
			}
			if !strings.Contains(got.text, "<b>") || strings.Count(got.text, `"verdict":"true"`) != 1 {
				t.Errorf("%.300q", got.text)
			}
		case "nt":
			err := rdf.ReadNTriples("facts.nt", strings.NewReader(got.text), func(_ int, s rdf.Statement) error {
				name := func(of rdf.Term) string {
					minted, is := strings.CutPrefix(of.Value, "urn:tagnet:")
					if !is {
						return of.Value
					}
					name, err := url.PathUnescape(minted)
					if err != nil {
						t.Error(err)
					}
					return name
				}
				all = append(all, [3]string{name(s.Subject), name(s.Predicate), name(s.Object)})
				return nil
			}, func(b triples.BadLine) error { return b })
			if err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("%s (-table +file):\n%.2000s", format, diff)
		}
	}
}
