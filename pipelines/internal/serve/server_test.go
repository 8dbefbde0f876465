package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/model"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/pipelinetest"
)

// markup is the name of an entity that would run as a script where it is not inserted as text.
const markup = `<img src=x onerror="document.title='broken'">`

// person returns the names of the test's graph: a ring of entities, two of which have names that hurt.
func person(i int) string {
	switch i %= 24; i {
	case 3:
		return markup
	case 4:
		return "Bell\a and \u202eturn"
	}
	return fmt.Sprintf("Person %02d", i)
}

// ring returns the facts of the test's graph.
func ring() (facts []model.Triple) {
	for i := range 24 {
		facts = append(facts, model.Triple{Head: person(i), Relation: "knows", Tail: person(i + 1)})
		if i%5 != 0 {
			facts = append(facts, model.Triple{Head: person(i), Relation: "<b>skips</b>", Tail: person(i + 2)})
		}
	}
	return facts
}

// ofFacts returns the test's model, which is trained on the ring once, over facts. Each server has its
// own, which it watches.
func ofFacts(t testing.TB, facts []model.Triple) *model.Model {
	t.Helper()
	folder := pipelinetest.Template(t, "model", func(folder string) {
		c := configuration.Default()
		c.Layers, c.Dim, c.Epochs, c.BatchSize, c.Negatives, c.LearningRate = 3, 8, 10, 8, 8, 0.02
		m, err := model.Train(context.Background(), model.Facts{Train: ring()}, c, 1, nil)
		if err == nil {
			err = m.Save(context.Background(), folder)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: facts}, filepath.Join(folder, "best"), model.WithWorkers(2))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// start serves the test's model until the test ends.
func start(t testing.TB, change ...func(o *settings)) (*server, string) {
	t.Helper()
	report := filepath.Join(t.TempDir(), "index.html")
	pipelinetest.Write(t, report, "<!DOCTYPE html><title>a report</title>")
	o := settings{model: ofFacts(t, ring()), report: report, threads: 2, queue: 256, timeout: 20 * time.Second, local: true, failures: t.Output()}
	for _, c := range change {
		c(&o)
	}
	s, err := newServer(o)
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	return s, listening.URL
}

// reply is a response that was read.
type reply struct {
	status int
	header http.Header
	text   string
}

// send sends a request and checks that an error is JSON with one line.
func send(t testing.TB, method, url, body string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := reply{response.StatusCode, response.Header, string(text)}
	if got.status >= 400 && method != http.MethodHead {
		if f := read[failure](t, got); f.Text == "" || strings.ContainsAny(f.Text, "\n\r") {
			t.Errorf("%s %s: the error is %q, want one line", method, url, f.Text)
		}
	}
	return got
}

// read decodes a response whose fields are all known.
func read[T any](t testing.TB, of reply) T {
	t.Helper()
	var value T
	if kind := of.header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("status %d has the type %q", of.status, kind)
	}
	decoder := json.NewDecoder(strings.NewReader(of.text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v in %q", err, of.text)
	}
	return value
}

// ask returns the path of a query.
func ask(source, relation string, more ...string) string {
	v := url.Values{"source": {source}, "relation": {relation}}
	for i := 0; i < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return "/answer?" + v.Encode()
}

// asQueries returns the queries of a source.
func asQueries(source string, relations ...string) (queries []model.Query) {
	for _, r := range relations {
		queries = append(queries, model.Query{Source: source, Relation: r})
	}
	return queries
}

// TestAnswersAreTheModels compares GET, POST with a query and POST with many with package model.
func TestAnswersAreTheModels(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	var queries []model.Query
	var all []map[string]string
	var want results
	for i := range 24 {
		for _, relation := range []string{"knows", "~knows", "<b>skips</b>", "~<b>skips</b>"} {
			queries = append(queries, model.Query{Source: person(i), Relation: relation})
		}
	}
	answers, err := s.model.AskAll(t.Context(), queries, 5)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range queries {
		all = append(all, map[string]string{"source": q.Source, "relation": q.Relation})
		want.Results = append(want.Results, result{q.Source, q.Relation, answers[i].List, 0, false, s.probabilities()})
	}
	body, err := json.Marshal(map[string]any{"queries": all, "k": 5})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read[results](t, send(t, "POST", address+"/answer", string(body)))); diff != "" {
		t.Errorf("all queries (-model +served):\n%s", diff)
	}
	for i, q := range queries[:20] {
		if diff := cmp.Diff(want.Results[i], read[result](t, send(t, "GET", address+ask(q.Source, q.Relation, "k", "5"), ""))); diff != "" {
			t.Errorf("%v (-model +served):\n%s", q, diff)
		}
		body, err := json.Marshal(map[string]any{"source": q.Source, "relation": q.Relation, "k": 5})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Results[i], read[result](t, send(t, "POST", address+"/answer", string(body)))); diff != "" {
			t.Errorf("%v (-model +served):\n%s", q, diff)
		}
	}
	first := read[result](t, send(t, "GET", address+ask(person(0), "knows"), ""))
	if len(first.Answers) != usualAnswers {
		t.Errorf("%d answers without k, want %d", len(first.Answers), usualAnswers)
	}
	if all := read[result](t, send(t, "GET", address+ask(person(0), "knows", "k", "1000"), "")); len(all.Answers) != 22 {
		t.Errorf("%d answers, want those of 24 entities but the source and the known answer", len(all.Answers))
	}
	if all := read[result](t, send(t, "GET", address+ask(person(0), "knows", "k", "1000", "known", "true"), "")); len(all.Answers) != 23 {
		t.Errorf("%d answers with the known one, want those of 24 entities but the source", len(all.Answers))
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	list := func(n int) string {
		one := `{"source":"Person 01","relation":"knows"}`
		return `{"queries":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]}`
	}
	for _, test := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/answers", "", 404, `no page "/answers"`},
		{"GET", "//answer", "", 404, "no page"},
		{"GET", "/../answer", "", 404, "no page"},
		{"DELETE", "/answer", "", 405, "/answer takes GET, POST"},
		{"POST", "/entities", "", 405, "/entities takes GET"},
		{"GET", "/answer", "", 400, "source is missing"},
		{"GET", "/answer?source=Person+01", "", 400, "relation is missing"},
		{"GET", "/answer?source=%zz", "", 400, "the parameters cannot be read"},
		{"GET", "/answer?source=a;relation=b", "", 400, "the parameters cannot be read"},
		{"GET", ask("Person 01", "knows", "k", "0"), "", 400, "k is 0: want 1 to 1000"},
		{"GET", ask("Person 01", "knows", "k", "1001"), "", 400, "k is 1001: want 1 to 1000"},
		{"GET", ask("Person 01", "knows", "k", "ten"), "", 400, `k is "ten": want a whole number`},
		{"GET", ask("Person 01", "knows", "k", "99999999999999999999"), "", 400, "want a whole number"},
		{"GET", ask("Person 01", "knows", "known", "yes"), "", 400, `known is "yes": want true or false`},
		{"GET", ask("Person 01", "knows", "candidates", "Drug"), "", 400, `candidates is "Drug": want type: and the name of an entity type`},
		{"GET", ask("Person 01", "knows", "candidates", "type:Drug"), "", 404, "the graph has no entity types"},
		{"GET", "/explain?relation=knows&answer=Person+01", "", 400, "source is missing"},
		{"GET", "/explain?source=Person+01&answer=Person+01", "", 400, "relation is missing"},
		{"GET", "/explain?source=Person+01&relation=knows", "", 400, "answer is missing"},
		{"GET", "/explain?source=Person+01&relation=knows&answer=Person+2", "", 404, `unknown entity "Person 2"; closest: "Person 2`},
		{"GET", "/explain?source=Person+01&relation=knows&answer=Person+02&k=21", "", 400, "k is 21: want 1 to 20"},
		{"GET", "/explain?source=Person+01&relation=knows&answer=Person+02&walks=1", "", 400, `walks is "1": want true or false`},
		{"GET", "/explain?source=Person+01&relation=knows&answer=Person+02&drawing=yes", "", 400, `drawing is "yes": want true or false`},
		{"GET", ask("Person 01", "knows", "top_k", "3"), "", 400, `unknown parameter "top_k": /answer takes source, relation, k`},
		{"GET", ask("Person 01", "knows") + "&k=1&k=2", "", 400, "k stands 2 times"},
		{"GET", ask("Person 1", "knows"), "", 404, `unknown entity "Person 1"; closest: "Person 1`},
		{"GET", ask("Person 01", "know"), "", 404, `unknown relation "know"; closest: "knows"`},
		{"GET", ask("Person 01", "~know"), "", 404, `unknown relation "know"; closest: "knows"`},
		{"GET", ask("", ""), "", 404, "unknown entity"},
		{"GET", ask("a\nb\x00\xff", "knows"), "", 404, "unknown entity"},
		{"POST", "/answer", "", 400, "the body is empty"},
		{"POST", "/answer", "{", 400, "the body is not a JSON object"},
		{"POST", "/answer", "[]", 400, "the body is array: want a JSON object with source and relation, or with queries"},
		{"POST", "/answer", `{"source":3}`, 400, "source is number: want a string"},
		{"POST", "/answer", `{"queries":[{"source":"Person 01","relation":["knows"]}]}`, 400, "queries.relation is array: want a string"},
		{"POST", "/answer", `{"queries":["Person 01"]}`, 400, "queries is string: want an object"},
		{"POST", "/answer", `{"queries":{}}`, 400, "queries is object: want a list"},
		{"POST", "/answer", `{"known":"yes"}`, 400, "known is string: want true or false"},
		{"POST", "/answer", `{"source":"Person 01","relation":"knows"} {}`, 400, "after top-level value"},
		{"POST", "/answer", `{"source":"Person 01","relation":"knows","top_k":3}`, 400, `unknown field "top_k"`},
		{"POST", "/answer", `{"source":"Person 01","relation":"knows","K":3}`, 400, `unknown field "K": want source, relation, queries, k`},
		{"POST", "/answer", `{"\u017fource":"Person 01","relation":"knows"}`, 400, "unknown field"}, // a long s, which folds to s
		{"POST", "/answer", `{"source":"Person 01","relation":"knows","k":1,"k":2}`, 400, "k stands more than once"},
		{"POST", "/answer", `{"queries":[{"source":"Person 01","relation":"knows","relation":"knows"}]}`, 400, "relation stands more than once"},
		{"POST", "/answer", `{"queries":[{"source":"Person 01","relation":"knows","k":3}]}`, 400,
			`k stands in a query: want it beside queries, for all of them`},
		{"POST", "/answer", `{"queries":[{"source":"Person 01","relation":"knows","K":3}]}`, 400, `unknown field "K": want source, relation`},
		{"POST", "/answer", `{"source":"Person 01","relation":"knows","k":1.5}`, 400, "k is number 1.5: want a whole number"},
		{"POST", "/answer", `{"source":"Person 01"}`, 400, "relation is missing"},
		{"POST", "/answer", `{"queries":[]}`, 400, "0 queries: want 1 to 100"},
		{"POST", "/answer", list(101), 400, "101 queries: want 1 to 100"},
		{"POST", "/answer", `{"queries":[{"source":"Person 01","relation":"knows"},{"source":"Person 01"}]}`, 400, "query 2: relation is missing"},
		{"POST", "/answer", `{"queries":[{"source":"Person 01","relation":"knows"},{"source":"Per","relation":"knows"}]}`, 404,
			`query 2: unknown entity "Per"`},
		{"POST", "/answer", `{"source":"Person 01","queries":[{"source":"Person 01","relation":"knows"}]}`, 400, "source and relation stand in each"},
		{"POST", "/answer?k=3", list(1), 400, "takes no parameters"},
		{"POST", "/answer", `{"source":"` + strings.Repeat("x", mostBody) + `"}`, 413, "more than 131072 bytes"},
		{"POST", "/answer", strings.Repeat("[", mostBody-1), 400, "the body is not"},
		{"GET", "/entities?prefix=a&contains=b", "", 400, "exclude each other"},
		{"GET", "/entities?count=101", "", 400, "count is 101: want 1 to 100"},
		{"GET", "/relations?entity=nobody", "", 404, "unknown entity"},
		{"GET", "/relations?x=1", "", 400, "takes entity"},
		{"GET", ask("Person 01", "knows", "format", "tsv"), "", 400, `format is "tsv": want json or csv`},
		{"GET", ask("Person 01", "know", "format", "csv"), "", 404, `unknown relation "know"`},
		{"GET", "/entity", "", 400, "entity is missing"},
		{"GET", "/entity?entity=Person+1", "", 404, `unknown entity "Person 1"`},
		{"GET", "/entity?entity=Person+01&limit=101", "", 400, "limit is 101: want 1 to 100"},
		{"GET", "/entity?entity=Person+01&offset=-1", "", 400, "offset is -1: want 0 or more"},
		{"GET", "/entity?entity=Person+01&neighbors=11", "", 400, "neighbors is 11: want 0 to 10"},
		{"GET", "/entity?entity=Person+01&neighbors=-1", "", 400, "neighbors is -1: want 0 to 10"},
		{"GET", "/facts?relation=knows", "", 400, "entity is missing"},
		{"GET", "/facts?entity=Person+01", "", 400, "relation is missing"},
		{"GET", "/facts?entity=Person+01&relation=~know", "", 404, `unknown relation "know"; closest: "knows"`},
		{"GET", "/facts?entity=Person+01&relation=knows&limit=1001", "", 400, "limit is 1001: want 1 to 1000"},
		{"GET", "/facts?entity=Person+01&relation=knows&offset=all", "", 400, `offset is "all": want a whole number`},
	} {
		got := send(t, test.method, address+test.path, test.body)
		if got.status != test.status {
			t.Errorf("%s %s %.80s: status %d, want %d: %s", test.method, test.path, test.body, got.status, test.status, got.text)
		}
		if f := read[failure](t, got); !strings.Contains(f.Text, test.says) {
			t.Errorf("%s %s %.80s: %q, want %q", test.method, test.path, test.body, f.Text, test.says)
		}
	}
	if got := send(t, "DELETE", address+"/answer", ""); got.header.Get("Allow") != "GET, POST" {
		t.Errorf("Allow is %q", got.header.Get("Allow"))
	}
	if got := read[failure](t, send(t, "GET", address+ask("person 07", "knows"), "")); len(got.Closest) != 3 || got.Closest[0] != "Person 07" {
		t.Errorf("closest names %q", got.Closest)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	reasons, paths := 0, 0
	for _, relation := range []string{"knows", "~<b>skips</b>"} {
		for to := range 24 {
			want, err := s.model.Explain(t.Context(), model.Query{Source: person(2), Relation: relation}, person(to), 4)
			if err != nil {
				t.Fatal(err)
			}
			query := url.Values{"source": {person(2)}, "relation": {relation}, "answer": {person(to)}, "k": {"4"}, "drawing": {"true"}}
			got := read[explanation](t, send(t, "GET", address+"/explain?"+query.Encode(), ""))
			if diff := cmp.Diff(want, got.Explanation, cmpopts.EquateEmpty()); diff != "" || got.Weights == "" {
				t.Errorf("from %s %s to %s: weights %q (-model +served):\n%s", person(2), relation, person(to), got.Weights, diff)
			}
			reasons, paths = reasons+len(want.Reasons), paths+len(want.Paths)
			if err := xml.Unmarshal([]byte(*got.Drawing), new(struct{})); len(want.Reasons)+len(want.Paths) > 0 &&
				(err != nil || strings.Contains(*got.Drawing, markup) || !strings.Contains(*got.Drawing, "<style>")) {
				t.Errorf("%v in the drawing %s", err, *got.Drawing)
			}
		}
	}
	if reasons == 0 || paths == 0 {
		t.Errorf("%d reasons, %d paths", reasons, paths)
	}
}

func TestHeadTakesTheRouteOfGet(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	if got := send(t, "HEAD", address+"/healthz", ""); got.status != 200 || got.text != "" {
		t.Errorf("%+v", got)
	}
}

func TestEntities(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	for path, want := range map[string]entitiesResponse{
		"/entities?prefix=person+1": {[]string{"Person 10", "Person 11", "Person 12", "Person 13", "Person 14", "Person 15", "Person 16", "Person 17",
			"Person 18", "Person 19"}, false},
		"/entities?prefix=person+1&count=2": {[]string{"Person 10", "Person 11"}, true},
		"/entities?contains=N+1&count=3":    {[]string{"Person 10", "Person 11", "Person 12"}, true},
		"/entities?contains=09":             {[]string{"Person 09"}, false},
		"/entities?contains=nobody":         {[]string{}, false},
		"/entities?prefix=%3CIMG":           {[]string{markup}, false},
		"/entities?prefix=nobody":           {[]string{}, false},
		"/entities?count=1":                 {[]string{markup}, true},
	} {
		if diff := cmp.Diff(want, read[entitiesResponse](t, send(t, "GET", address+path, ""))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	want := relationsResponse{[]string{"<b>skips</b>", "knows"}}
	if diff := cmp.Diff(want, read[relationsResponse](t, send(t, "GET", address+"/relations", ""))); diff != "" {
		t.Errorf("relations (-want +got):\n%s", diff)
	}
}

// TestOtherHosts has requests that a page of another site sends.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	_, local := start(t)
	_, open := start(t, func(o *settings) { o.local = false })
	do := func(address, host, site string) int {
		r, err := http.NewRequestWithContext(t.Context(), "POST", address+"/answer", strings.NewReader(`{"source":"Person 01","relation":"knows"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if said := strings.Contains(string(text), "let a proxy send the header Host: localhost, or start serve with --listen"); err != nil ||
			said != (response.StatusCode == http.StatusMisdirectedRequest) {
			t.Errorf("host %s: status %d, error %v: %s", host, response.StatusCode, err, text)
		}
		return response.StatusCode
	}
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:80": 200, "127.0.0.1:1234": 200, "[::1]:9": 200, "[::1]": 200, "evil.example": 421, "127.0.0.1.evil.example:80": 421,
		"10.0.0.1": 421,
	} {
		if got := do(local, host, ""); got != want {
			t.Errorf("host %s on loopback: status %d, want %d", host, got, want)
		}
		if got := do(open, host, ""); got != 200 {
			t.Errorf("host %s: status %d", host, got)
		}
	}
	if got := do(open, "tagnet.example", "cross-site"); got != 403 {
		t.Errorf("a page of another site: status %d", got)
	}
}

// TestOtherSites has requests with what browsers tell of the page that sends them.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	get := func(path, site, mode, destination, origin string) int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": destination, "Origin": origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusForbidden {
			if f := read[failure](t, reply{response.StatusCode, response.Header, string(text)}); !strings.Contains(f.Text, "; link to the page / instead") {
				t.Errorf("the error is %q", f.Text)
			}
		}
		return response.StatusCode
	}
	query := ask("Person 01", "knows")
	for path, methods := range s.routes {
		asked, passes := path, 200
		if _, ok := methods["GET"]; !ok {
			passes = 405
		}
		switch path {
		case "/answer":
			asked = query
		case "/entity":
			asked = "/entity?entity=Person+01"
		case "/facts":
			asked = "/facts?entity=Person+01&relation=knows"
		case "/score":
			asked = "/score?head=Person+01&relation=knows&tail=Person+02"
		case "/explain":
			asked = "/explain" + strings.TrimPrefix(query, "/answer") + "&answer=Person+02"
		}
		for _, site := range []string{"", "same-origin", "none"} {
			for _, mode := range []string{"", "navigate", "cors"} {
				if got := get(asked, site, mode, "document", ""); got != passes {
					t.Errorf("%s, site %q, mode %q: status %d", asked, site, mode, got)
				}
			}
		}
		for _, site := range []string{"cross-site", "same-site"} {
			for _, destination := range []string{"document", "iframe", "image", ""} {
				for _, mode := range []string{"navigate", "no-cors", "cors", ""} {
					want := 403
					if path == "/" && mode == "navigate" && destination == "document" {
						want = 200
					}
					if got := get(asked, site, mode, destination, ""); got != want {
						t.Errorf("%s, site %q, mode %q, for %q: status %d, want %d", asked, site, mode, destination, got, want)
					}
				}
			}
		}
	}
	for origin, want := range map[string]int{address: 200, "http://evil.example": 403, "null": 403} { // of a browser that tells no more
		if got := get(query, "", "", "", origin); got != want {
			t.Errorf("origin %s: status %d, want %d", origin, got, want)
		}
	}
	if got := get("/"+strings.TrimPrefix(query, "/answer"), "cross-site", "navigate", "document", ""); got != 200 {
		t.Errorf("a link to the page of an answer: status %d", got)
	}
}

// block makes the threads of the server's model wait until release is called, each after a query that it computes, and
// then continue. Nothing was sent to the server before.
func block(t testing.TB, s *server) (release func()) {
	t.Helper()
	gate, waiting := make(chan struct{}), make(chan struct{})
	s.model.Watch(func(queries int, took time.Duration) {
		s.measures.batch(queries, took)
		select {
		case waiting <- struct{}{}:
		case <-gate:
		}
		<-gate
	})
	ctx, leave := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for i := range s.threads {
		asking.Go(func() {
			_, _ = s.model.Ask(ctx, model.Query{Source: person(i), Relation: "knows"}, 1) // which nobody waits for
		})
		<-waiting
	}
	leave()
	asking.Wait()
	return func() { close(gate) }
}

// TestTooManyRequests fills the queue, and has a request refused until there is space again.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	s, address := start(t, func(o *settings) { o.queue = 100 })
	release := block(t, s)
	var under sync.WaitGroup
	for i := range 97 {
		under.Go(func() {
			if got := send(t, "GET", address+ask(person(i), "knows"), ""); got.status != 200 {
				t.Errorf("status %d of a request that was admitted: %s", got.status, got.text)
			}
		})
	}
	for s.admission.inUse() < 97 {
		time.Sleep(time.Millisecond)
	}
	four := `{"queries":[` + strings.Repeat(`{"source":"Person 01","relation":"knows"},`, 3) + `{"source":"Person 02","relation":"knows"}]}`
	got := send(t, "POST", address+"/answer", four)
	if got.status != 429 || got.header.Get("Retry-After") == "" || s.admission.inUse() != 97 {
		t.Errorf("4 queries where 3 are allowed: status %d, Retry-After %q, %d under way", got.status, got.header.Get("Retry-After"), s.admission.inUse())
	}
	for _, path := range []string{"/healthz", "/metrics", "/entities", "/"} {
		if got := send(t, "GET", address+path, ""); got.status != 200 {
			t.Errorf("%s with a full queue: status %d", path, got.status)
		}
	}
	if got := send(t, "GET", address+"/metrics", "").text; !strings.Contains(got, "tagnet_queries_under_way 97\n") {
		t.Error("/metrics does not show the queries under way")
	}
	release()
	under.Wait()
	if got := send(t, "POST", address+"/answer", four); got.status != 200 {
		t.Errorf("status %d with an empty queue", got.status)
	}
	// A request leaves after its response was written.
	for begun := time.Now(); s.admission.inUse() > 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("%d queries are under way after the last response", s.admission.inUse())
		}
	}
}

// TestSlowBody has a client whose body does not arrive in time.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	body := io.MultiReader(strings.NewReader(`{"source":`), iotest.ErrReader(fmt.Errorf("read tcp 127.0.0.1:8080: %w", os.ErrDeadlineExceeded)))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/answer", body))
	f := read[failure](t, reply{w.Code, w.Header(), w.Body.String()})
	if w.Code != http.StatusRequestTimeout || f.Text != "the body did not arrive within 10s" || w.Header().Get("Connection") != "close" {
		t.Errorf("status %d, header %v: %s", w.Code, w.Header(), f.Text)
	}
}

// TestDeadline has a request that waits longer than --timeout, and a client that leaves.
func TestDeadline(t *testing.T) {
	t.Parallel()
	s, address := start(t, func(o *settings) { o.timeout = 50 * time.Millisecond })
	release := block(t, s)
	got := send(t, "GET", address+ask("Person 01", "knows"), "")
	if f := read[failure](t, got); got.status != 503 || !strings.Contains(f.Text, "longer than 50ms (--timeout)") {
		t.Errorf("%+v", got)
	}
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", address+ask("Person 01", "knows"), nil)
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
		}
	}()
	leave()
	<-left
	release()
	for begun := time.Now(); s.admission.inUse() > 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("%d queries are under way after the last request ended", s.admission.inUse())
		}
	}
	var done []string // batches that nobody waits for are not computed
	for line := range strings.Lines(send(t, "GET", address+"/metrics", "").text) {
		if strings.HasPrefix(line, "tagnet_queries_total") {
			done = append(done, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff([]string{"tagnet_queries_total 2"}, done); diff != "" {
		t.Errorf("only the two that blocked (-want +got):\n%s", diff)
	}
}

// TestPanics has a handler that panics, and one whose query did.
func TestPanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s, address := start(t, func(o *settings) { o.failures = &log })
	s.routes["/healthz"]["GET"] = route{"GET", "/healthz", false, func(http.ResponseWriter, *http.Request) error { panic("handler is broken") }}
	s.routes["/relations"]["GET"] = route{"GET", "/relations", false, func(http.ResponseWriter, *http.Request) error {
		return &model.PanicError{Value: "query is broken", Stack: []byte("the query's server_test.go")}
	}}
	for path, says := range map[string]string{"/healthz": "handler is broken", "/relations": "query is broken"} {
		if got := send(t, "GET", address+path, ""); got.status != 500 || strings.Contains(got.text, "broken") {
			t.Errorf("%s: %+v", path, got)
		}
		s.logging.Lock()
		if text := log.String(); !strings.Contains(text, "serve: panic: "+says) || !strings.Contains(text, "server_test.go") {
			t.Errorf("%s: the log has no stack: %s", path, text)
		}
		s.logging.Unlock()
	}
	if got := send(t, "GET", address+ask("Person 01", "knows"), ""); got.status != 200 {
		t.Errorf("after the panics: %+v", got)
	}
}

func TestLogEscapesNames(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s, address := start(t, func(o *settings) { o.log = &log })
	send(t, "GET", address+ask("Bell\a\n\u202e", "knows"), "")
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque = "/answer?\u202e\x1b[31m"
	if response, err := http.DefaultClient.Do(r); err == nil {
		response.Body.Close()
	}
	s.logging.Lock()
	defer s.logging.Unlock()
	lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
	if len(lines) < 1 || len(lines) > 2 || strings.ContainsAny(log.String(), "\a\x1b\u202e") {
		t.Errorf("log %q", log.String())
	}
	if !strings.Contains(lines[0], " GET /answer?") || !strings.Contains(lines[0], " 404 ") {
		t.Errorf("line %q", lines[0])
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	send(t, "GET", address+ask("Person 01", "knows"), "")
	send(t, "GET", address+ask("Person 01", "knows")+"&k=x", "")
	send(t, "GET", address+"/invented/1", "")
	send(t, "GET", address+"/invented/2", "")
	got := send(t, "GET", address+"/metrics", "")
	if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Errorf("type %q", kind)
	}
	for _, line := range []string{
		`tagnet_requests_total{path="/answer",status="200"} 1`, `tagnet_requests_total{path="/answer",status="400"} 1`,
		`tagnet_requests_total{path="other",status="404"} 2`,
		"tagnet_queries_total 11", `tagnet_request_seconds_count{path="/answer"} 2`, "tagnet_queries_limit 256",
	} {
		if !slices.Contains(strings.Split(got.text, "\n"), line) {
			t.Errorf("no line %q", line)
		}
	}
	if !strings.Contains(got.text, "process_resident_memory_bytes") || !strings.Contains(got.text, "go_goroutines") {
		t.Error("no measures of the process")
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	want := health{Status: "ok", Checkpoint: s.model.Checkpoint(), Entities: 24, Relations: 2, Probabilities: "fitting 0%"}
	if got := send(t, "GET", address+"/healthz", ""); got.status != 200 || !cmp.Equal(read[health](t, got), want) {
		t.Errorf("%+v", got)
	}
	s.stopping.Store(true)
	want.Status = "stopping"
	if got := send(t, "HEAD", address+"/healthz", ""); got.status != 503 {
		t.Errorf("%+v", got)
	}
	response, err := http.Get(address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var got health
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v: %+v", err, got)
	}
}
