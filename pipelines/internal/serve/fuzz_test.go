package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzBody posts any body to /answer. What it answers are queries within the limits that have names of the graph, and
// anything else is one line of JSON with a status that openapi.json describes.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		"", "{", "null", "[]", `{"source":"Person 01","relation":"knows"}`, `{"source":"Person 01","relation":"~knows","k":1000,"known":true}`,
		`{"queries":[{"source":"Person 01","relation":"knows"},{"source":"Person 02","relation":"<b>skips</b>"}],"k":1}`, `{"queries":[]}`,
		`{"source":"Person 01","relation":"knows","candidates":"type:Drug"}`, `{"source":"Bell\u0007 and \u202eturn","relation":"knows","k":-1}`,
		`{"source":"Person 01","relation":"knows","k":1e3}`, `{"SOURCE":"Person 01","Relation":"knows","k":2,"K":3}`, `{"source":3,"k":NaN}`, "\xff\x00",
		`{"queries":[{"source":"Person 01","relation":"knows"}],"queries":[{}]}`,
	} {
		f.Add([]byte(body))
	}
	s, _ := start(f)
	described := described(f).Paths["/answer"]["post"].Responses
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/answer", bytes.NewReader(body)))
		got := reply{w.Code, w.Header(), w.Body.String()}
		if _, ok := described[strconv.Itoa(w.Code)]; !ok || s.admission.inUse() != 0 {
			t.Fatalf("status %d, %d queries are under way: %s", w.Code, s.admission.inUse(), got.text)
		}
		if strings.Count(got.text, "\n") != 1 || !strings.HasSuffix(got.text, "\n") {
			t.Fatalf("the response is %q", got.text)
		}
		if w.Code != http.StatusOK {
			if said := read[failure](t, got); said.Text == "" || strings.ContainsAny(said.Text, "\n\r\x1b") {
				t.Fatalf("the error is %q", said.Text)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatal("the body is accepted, and is not JSON")
		}
		var answered struct {
			results
			result
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answered); err != nil {
			t.Fatal(err)
		}
		if answered.Results == nil {
			answered.Results = []result{answered.result}
		}
		if n := len(answered.Results); n < 1 || n > mostQueries {
			t.Fatalf("%d queries are answered", n)
		}
		for _, q := range answered.Results {
			if n := len(q.Answers); n < 1 || n > mostAnswers {
				t.Fatalf("%d answers", n)
			}
			_, entity := slices.BinarySearch(s.model.Entities(), q.Source)
			_, relation := slices.BinarySearch(s.model.Relations(), strings.TrimPrefix(q.Relation, "~"))
			if !entity || !relation {
				t.Fatalf("a query has no names of the graph: %+v", q)
			}
		}
	})
}

// FuzzParameters sends any parameters to the paths that list names and facts. The lists are within the limits, and
// anything else is one line of JSON with a status that openapi.json describes.
func FuzzParameters(f *testing.F) {
	paths := []string{"/entities", "/entity", "/facts"}
	for i, query := range []string{
		"contains=rson&count=3", "entity=Person+01&neighbors=10&limit=100&offset=1", "entity=Person+01&relation=~knows&limit=1&offset=0", "", "count=0",
		"prefix=%ff&count=100",
		"entity=Bell%07+and+%e2%80%aeturn&relation=knows", "entity=Person+01&relation=knows&limit=-1&offset=9223372036854775807",
		"offset=9223372036854775808&entity=", "entity=%zz;&relation=~~",
		"contains=%c4%b0%00&prefix=", "neighbors=1e1&entity=Person+02",
	} {
		f.Add(byte(i), query)
	}
	s, _ := start(f)
	d := described(f)
	f.Fuzz(func(t *testing.T, path byte, query string) {
		of := paths[int(path)%len(paths)]
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "http://localhost"+of, nil)
		r.URL.RawQuery = query
		s.ServeHTTP(w, r)
		got := reply{w.Code, w.Header(), w.Body.String()}
		if _, ok := d.Paths[of]["get"].Responses[strconv.Itoa(w.Code)]; !ok || s.admission.inUse() != 0 || strings.Count(got.text, "\n") != 1 {
			t.Fatalf("status %d, %d queries are under way: %q", w.Code, s.admission.inUse(), got.text)
		}
		switch {
		case w.Code != http.StatusOK:
			if said := read[failure](t, got); said.Text == "" || strings.ContainsAny(said.Text, "\n\r\x1b") {
				t.Fatalf("the error is %q", said.Text)
			}
		case of == "/entities":
			if found := read[entitiesResponse](t, got).Entities; len(found) > mostEntities {
				t.Fatalf("%d entities", len(found))
			}
		case of == "/entity":
			about := read[entityResponse](t, got)
			for _, r := range about.Relations {
				if r.Facts < 1 || len(r.Entities) > min(r.Facts, mostNeighbors) {
					t.Fatalf("%+v", r)
				}
			}
			if len(about.Relations) > mostRelations {
				t.Fatalf("%d relations", len(about.Relations))
			}
		default:
			if found := read[factsResponse](t, got); len(found.Entities) > min(found.Facts, mostFacts) {
				t.Fatalf("%+v", found)
			}
		}
	})
}
