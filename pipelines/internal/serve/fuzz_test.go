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

// FuzzBody posts any body to /answer, without computing. Its queries are within the limits and have names of the graph, and
// anything else is one line of JSON with a status that openapi.json describes.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		"", "{", "null", "[]", `{"source":"Person 01","relation":"knows"}`, `{"source":"Person 01","relation":"~knows","k":1000,"only_new":true}`,
		`{"queries":[{"source":"Person 01","relation":"knows"},{"source":"Person 02","relation":"<b>skips</b>"}],"k":1}`, `{"queries":[]}`,
		`{"source":"Person 01","relation":"knows","candidates":"type:Drug"}`, `{"source":"Bell\u0007 and \u202eturn","relation":"knows","k":-1}`,
		`{"source":"Person 01","relation":"knows","k":1e3}`, `{"SOURCE":"Person 01","Relation":"knows","k":2,"K":3}`, `{"source":3,"k":NaN}`, "\xff\x00",
		`{"queries":[{"source":"Person 01","relation":"knows"}],"queries":[{}]}`,
	} {
		f.Add([]byte(body))
	}
	s, _ := start(f)
	described := described(f).Paths["/answer"]["post"].Responses
	var accepted *asked
	s.routes["/answer"]["POST"] = route{"POST", "/answer", true, func(w http.ResponseWriter, r *http.Request) error {
		q, err := decode(w, r)
		if err != nil {
			return err
		}
		a, err := s.check(r.Context(), q)
		accepted = &a
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, nil)
	}}
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
		a := *accepted
		if a.k < 1 || a.k > mostAnswers || len(a.queries) < 1 || len(a.queries) > mostQueries || a.single && len(a.queries) > 1 {
			t.Fatalf("%+v", a)
		}
		for _, q := range a.queries {
			_, entity := slices.BinarySearch(s.model.Entities(), q.Source)
			_, relation := slices.BinarySearch(s.model.Relations(), strings.TrimPrefix(q.Relation, "~"))
			if !entity || !relation {
				t.Fatalf("a query has no names of the graph: %+v", q)
			}
		}
	})
}
