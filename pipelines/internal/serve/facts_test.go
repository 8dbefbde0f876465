package serve

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// TestEntityAndFacts compares what is said of every entity with the facts of the test's graph.
func TestEntityAndFacts(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	known := map[string]map[string][]string{}
	add := func(entity, relation, neighbor string) {
		if known[entity] == nil {
			known[entity] = map[string][]string{}
		}
		known[entity][relation] = append(known[entity][relation], neighbor)
	}
	for _, f := range ring() {
		add(f.Head, f.Relation, f.Tail)
		add(f.Tail, "~"+f.Relation, f.Head)
	}
	for entity, relations := range known {
		about := read[entityResponse](t, send(t, "GET", address+"/entity?"+url.Values{"entity": {entity}, "neighbors": {"10"}}.Encode(), ""))
		facts := 0
		for relation, neighbors := range relations {
			facts += len(neighbors)
			slices.Sort(neighbors)
			at := slices.IndexFunc(about.Relations, func(r relationOfFact) bool { return r.Relation == relation })
			if want := (relationOfFact{relation, len(neighbors), neighbors}); at < 0 || !cmp.Equal(want, about.Relations[at]) {
				t.Errorf("%q lacks %+v in %+v", entity, want, about.Relations)
			}
			got := read[factsResponse](t, send(t, "GET", address+"/facts?"+url.Values{"entity": {entity}, "relation": {relation}}.Encode(), ""))
			if diff := cmp.Diff(factsResponse{entity, relationOfFact{relation, len(neighbors), neighbors}}, got,
				cmp.AllowUnexported(factsResponse{})); diff != "" {
				t.Errorf("%q %s (-want +got):\n%s", entity, relation, diff)
			}
		}
		if about.Entity != entity || about.Facts != facts || len(about.Relations) != len(relations) || about.More || len(about.Types) > 0 {
			t.Errorf("%+v, want %d facts of %d relations", about, facts, len(relations))
		}
		rest := read[entityResponse](t, send(t, "GET", address+"/entity?"+url.Values{"entity": {entity}, "offset": {"1"}, "limit": {"1"}}.Encode(), ""))
		if len(rest.Relations) != 1 || rest.Relations[0].Relation != about.Relations[1].Relation || len(rest.Relations[0].Entities) > 0 ||
			rest.More != (len(relations) > 2) || rest.Facts != facts {
			t.Errorf("the second relation of %q is %+v, want that of %+v", entity, rest, about)
		}
	}
	far := strconv.Itoa(1 << 62)
	if got := read[factsResponse](t, send(t, "GET", address+"/facts?entity=Person+01&relation=knows&limit=1000&offset="+far, "")); got.Facts != 1 ||
		len(got.Entities) > 0 {
		t.Errorf("behind the last fact: %+v", got)
	}
	if got := read[entityResponse](t, send(t, "GET", address+"/entity?entity=Person+01&offset="+far, "")); len(got.Relations) > 0 || got.More {
		t.Errorf("behind the last relation: %+v", got)
	}
	for s.admission.enter(1) { // until the server is busy
	}
	for _, path := range []string{"/entity?entity=Person+01", "/facts?entity=Person+01&relation=knows"} {
		if got := send(t, "GET", address+path, ""); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: status %d of a busy server", path, got.status)
		}
	}
}

// TestCSV reads the answers as a table, with names that need quotes, and compares it with the answers in JSON.
func TestCSV(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	want := read[result](t, send(t, "GET", address+ask(markup, "~<b>skips</b>", "k", "24", "known", "true"), ""))
	got := send(t, "GET", address+ask(markup, "~<b>skips</b>", "k", "24", "known", "true", "format", "csv"), "")
	if kind, file := got.header.Get("Content-Type"), got.header.Get("Content-Disposition"); got.status != 200 || kind != "text/csv; charset=utf-8" ||
		file != `attachment; filename="answers.csv"` {
		t.Fatalf("status %d, %q, %q", got.status, kind, file)
	}
	if !strings.HasPrefix(got.text, "source,relation,position,answer,probability,score,rank,other_score,other_rank,known,hops,verdict\r\n") ||
		!strings.HasSuffix(got.text, "\r\n") {
		t.Errorf("the table is %q", got.text)
	}
	rows, err := csv.NewReader(strings.NewReader(got.text)).ReadAll()
	if err != nil || len(rows) != 24 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, a := range want.Answers {
		hops := ""
		if a.Hops != model.Unreached {
			hops = fmt.Sprint(a.Hops)
		}
		row := []string{
			markup, "~<b>skips</b>", fmt.Sprint(i + 1), a.Entity, "", fmt.Sprint(a.Score), fmt.Sprint(a.Rank), fmt.Sprint(a.OtherScore),
			fmt.Sprint(a.OtherRank),
			fmt.Sprint(a.Known), hops, a.Verdict,
		}
		if diff := cmp.Diff(row, rows[i+1]); diff != "" {
			t.Errorf("row %d (-json +csv):\n%s", i+1, diff)
		}
	}
}

// TestPageFiles checks that a browser may keep the files of the page, and learns whether they have changed.
func TestPageFiles(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	for path, kind := range map[string]string{"/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript", "/facts.js": "text/javascript",
		"/list.js": "text/javascript"} {
		got := send(t, "GET", address+path, "")
		tag := got.header.Get("ETag")
		if got.status != 200 || got.header.Get("Content-Type") != kind+"; charset=utf-8" || len(tag) != 66 || got.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: status %d, %v", path, got.status, got.header)
		}
		if p := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none';") || strings.Contains(p, "unsafe") ||
			strings.Contains(p, "http") {
			t.Errorf("%s: policy %q", path, p)
		}
		if strings.Contains(got.text, "http://") && !strings.Contains(got.text, "http://www.w3.org/2000/svg") || strings.Contains(got.text, "https://") {
			t.Errorf("%s has the address of another site", path)
		}
		r, err := http.NewRequestWithContext(t.Context(), "GET", address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for sent, want := range map[string]int{tag: http.StatusNotModified, `"other"`: http.StatusOK} {
			r.Header.Set("If-None-Match", sent)
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%s, If-None-Match %s: status %d, want %d", path, sent, response.StatusCode, want)
			}
		}
	}
}
