package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model"
	"tagnet/pipelines/internal/pipelinetest"
)

// verdictOf returns the body of a verdict on a fact.
func verdictOf(t testing.TB, f parquet.Fact, judgment string) string {
	t.Helper()
	text, err := json.Marshal(verdict{f.Head, f.Relation, f.Tail, judgment, "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestVerdicts judges facts of the list, and takes one verdict back: what is judged is no new answer any more.
func TestVerdicts(t *testing.T) {
	w := listed(t)
	_, address := startListed(t, w)
	rows := rowsOf(t, w, "all")
	say := func(f parquet.Fact, judgment string, count int) {
		t.Helper()
		got := send(t, "POST", address+"/verdicts", verdictOf(t, f, judgment))
		if h := read[health](t, got); got.status != 200 || h.Verdicts != count || h.Status != "ok" {
			t.Errorf("status %d, %+v, want %d verdicts", got.status, h, count)
		}
	}
	counts := func() (of []verdict) {
		return read[verdictsResponse](t, send(t, "GET", address+"/verdicts", "")).Verdicts
	}
	isListed := func(f parquet.Fact, judged string) (verdict string, is bool) {
		list := read[listResponse](t, send(t, "GET", address+wantList("limit", "1000", "judged", judged), "")).Listed
		i := slices.IndexFunc(list, func(l listedFact) bool { return l.Position == f.Position })
		if i < 0 {
			return "", false
		}
		return list[i].Verdict, true
	}
	answers := func(f parquet.Fact, known string) (verdict string, is bool) {
		list := read[result](t, send(t, "GET", address+ask(f.Head, f.Relation, "k", "1000", "known", known), "")).Answers
		i := slices.IndexFunc(list, func(a model.Answer) bool { return a.Entity == f.Tail })
		if i < 0 {
			return "", false
		}
		return list[i].Verdict, true
	}
	yes, no := rows[0], rows[1]
	if got := counts(); len(got) > 0 {
		t.Errorf("at first %d verdicts", len(got))
	}
	say(yes, "true", 1)
	say(no, "true", 2)
	say(no, "false", 2)
	for f, want := range map[*parquet.Fact]string{&yes: "true", &no: "false"} {
		if _, is := isListed(*f, "false"); is {
			t.Errorf("%+v is judged %s, and listed", f, want)
		}
		if got, is := isListed(*f, "true"); !is || got != want {
			t.Errorf("among judged ones, %+v is judged %q, want %q", f, got, want)
		}
		if _, is := answers(*f, "false"); is {
			t.Errorf("%+v is judged %s, and a new answer", f, want)
		}
		if got, is := answers(*f, "true"); !is || got != want {
			t.Errorf("among known answers, %+v is judged %q, want %q", f, got, want)
		}
	}
	want := []verdict{{yes.Head, yes.Relation, yes.Tail, "true", ""}, {no.Head, no.Relation, no.Tail, "false", ""}}
	if diff := cmp.Diff(want, counts()); diff != "" {
		t.Errorf("verdicts that count (-want +got):\n%s", diff)
	}
	if got := send(t, "GET", address+ask(no.Head, no.Relation, "k", "1000", "known", "true", "format", "csv"), ""); strings.Count(got.text, ",false\r\n") != 1 {
		t.Errorf("the table has no verdict: %s", got.text)
	}
	say(no, "undo", 1)
	if _, is := isListed(no, "false"); !is {
		t.Error("what is taken back is not listed")
	}
	if got, is := answers(no, "false"); !is || got != "" {
		t.Errorf("what is taken back is an answer: %v, judged %q", is, got)
	}
	if text := pipelinetest.Read(t, w, verdicts.File); strings.Count(text, "\tAda\t") != 4 {
		t.Errorf("the file of verdicts is %q", text)
	}
}

// TestVerdictsOfOthers changes the file by hand: answers and the list are what it says now, and a line that is none is
// told, while answers are as before.
func TestVerdictsOfOthers(t *testing.T) {
	w := listed(t)
	_, address := startListed(t, w)
	f := rowsOf(t, w, "all")[0]
	file := filepath.Join(w, verdicts.File)
	isNew := func() bool {
		list := read[result](t, send(t, "GET", address+ask(f.Head, f.Relation, "k", "1000"), "")).Answers
		return slices.ContainsFunc(list, func(a model.Answer) bool { return a.Entity == f.Tail })
	}
	line := strings.Join([]string{f.Head, f.Relation, f.Tail}, "\t")
	at := time.Now().Add(time.Hour) // of all files: a clock is coarse
	for i, c := range []struct {
		text string
		want bool
	}{{"", true}, {line + "\tfalse\n", false}, {line + "\tfalse\n" + line + "\tundo\n", true}, {line + "\ttrue\n", false}} {
		pipelinetest.Write(t, file, c.text)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		if got := isNew(); got != c.want {
			t.Errorf("%d: %q: a new answer %v, want %v", i, c.text, got, c.want)
		}
	}
	pipelinetest.Write(t, file, line+"\tmaybe\n")
	for _, path := range []string{"/verdicts", "/list"} {
		if got := send(t, "GET", address+path, ""); got.status != 500 ||
			!strings.Contains(read[failure](t, got).Text, `verdicts.tsv:1: the verdict is "maybe"`) {
			t.Errorf("%s: status %d: %s", path, got.status, got.text)
		}
	}
	if got := send(t, "GET", address+"/healthz", ""); got.status != 200 || isNew() {
		t.Errorf("status %d of a file with a bad line: %s", got.status, got.text)
	}
}

// TestRefusedVerdicts has requests that keep nothing.
func TestRefusedVerdicts(t *testing.T) {
	w := listed(t)
	_, address := startListed(t, w)
	_, closed := startListed(t, w, func(o *settings) { o.takesVerdicts = false })
	f := rowsOf(t, w, "all")[0]
	for body, c := range map[string]struct {
		status int
		says   string
	}{
		`{"head":"e010","relation":"nixt","tail":"e012","verdict":"true"}`: {404,
			`unknown relation "nixt"; closest: "next"`},
		`{"head":"e010","relation":"next","tail":"E012","verdict":"true"}`: {404,
			`unknown entity "E012"; closest: "e012"`},
		`{"head":"e010","relation":"next","tail":"e012","verdict":"yes"}`: {400,
			`verdict is "yes" of "": want true, false or undo`},
		`{"head":"e010","relation":"next","tail":"e012"}`:                   {400, `verdict is ""`},
		`{"head":"e010","relation":"~next","tail":"e012","verdict":"true"}`: {400, `begins with ~`},
		`{"head":"e010","relation":"next","verdict":"true"}`:                {400, `tail`},
		`{"head":"e010","relation":"next","tail":"e012","verdict":"true","weight":3}`: {400,
			`unknown field "weight": want head, relation, tail, verdict, who`},
		`{"head":"e010","relation":"next","tail":"e012","verdict":true}`:                                            {400, `verdict is bool: want a string`},
		`{"head":"e010","head":"e011","relation":"next","tail":"e012","verdict":"true"}`:                            {400, `head stands more than once`},
		`{"head":"e010","relation":"next","tail":"e012","verdict":"true","who":"` + strings.Repeat("x", 201) + `"}`: {400, `at most 200 bytes`},
		`[]`: {400, `want a JSON object with head, relation, tail and verdict`},
		``:   {400, `the body is empty: want a JSON object with head, relation, tail and verdict`},
	} {
		if got := send(t, "POST", address+"/verdicts", body); got.status != c.status || !strings.Contains(read[failure](t, got).Text, c.says) {
			t.Errorf("%s: status %d, want %d with %q: %s", body, got.status, c.status, c.says, got.text)
		}
	}
	if got := send(t, "POST", closed+"/verdicts", verdictOf(t, f, "true")); got.status != 403 || !strings.Contains(got.text, "start serve with --verdicts") {
		t.Errorf("without --verdicts: status %d: %s", got.status, got.text)
	}
	if read[listResponse](t, send(t, "GET", closed+"/list", "")).Judging {
		t.Error("without --verdicts, the list offers them")
	}
	for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", address+"/verdicts", strings.NewReader(verdictOf(t, f, "true")))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(header, value)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != 403 {
			t.Errorf("%s %s: status %d", header, value, response.StatusCode)
		}
	}
	if there, err := storage.Exists(t.Context(), filepath.Join(w, verdicts.File)); there || err != nil {
		t.Errorf("a refused verdict is kept: %v, %v", there, err)
	}
}

// TestTwoServersLoseNoVerdict has people at the pages of two servers on a workspace, who judge at once: each server has
// all verdicts, and no fact that the other one refused is a new answer of it.
func TestTwoServersLoseNoVerdict(t *testing.T) {
	w := listed(t)
	rows := rowsOf(t, w, "all")[:24]
	var addresses []string
	for range 2 {
		_, address := startListed(t, w)
		addresses = append(addresses, address)
	}
	var people sync.WaitGroup
	for person := range 4 {
		people.Go(func() {
			for i := person; i < len(rows); i += 4 {
				if got := send(t, "POST", addresses[person%2]+"/verdicts", verdictOf(t, rows[i], "false")); got.status != 200 {
					t.Errorf("status %d: %s", got.status, got.text)
				}
			}
		})
	}
	people.Wait()
	for i, address := range addresses {
		if got := read[verdictsResponse](t, send(t, "GET", address+"/verdicts", "")).Verdicts; len(got) != len(rows) {
			t.Errorf("server %d has %d verdicts of %d", i, len(got), len(rows))
		}
		for _, f := range rows {
			list := read[result](t, send(t, "GET", address+ask(f.Head, f.Relation, "k", "1000"), "")).Answers
			if slices.ContainsFunc(list, func(a model.Answer) bool { return a.Entity == f.Tail }) {
				t.Errorf("server %d answers with what is refused: %+v", i, f)
			}
		}
	}
	if text := pipelinetest.Read(t, w, verdicts.File); strings.Count(text, "\tfalse\t") != len(rows) {
		t.Errorf("the file has %d verdicts of %d", strings.Count(text, "\tfalse\t"), len(rows))
	}
}

// TestVerdictFlags starts servers that take verdicts, and those that refuse to.
func TestVerdictFlags(t *testing.T) {
	w := listed(t)
	for _, c := range []struct {
		workspace string
		flags     []string
		code      int
		says      string
	}{
		{w, []string{"--listen", "0.0.0.0:0", "--verdicts"}, 2,
			"--verdicts: whoever reaches --listen 0.0.0.0:0 could judge; listen on 127.0.0.1, or allow it with --verdicts_from_anywhere"},
		{w, []string{"--listen", "127.0.0.1:0", "--verdicts_from_anywhere"}, 2,
			"--verdicts_from_anywhere is for a server that takes verdicts: give --verdicts, too"},
		{filepath.Join(w, "graph", "manifest.json"), []string{"--listen", "127.0.0.1:0", "--verdicts"}, 1, "--verdicts are kept in the workspace: "},
	} {
		arguments := append([]string{"--workspace", c.workspace}, c.flags...)
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: c.code, Says: []string{c.says}}, arguments...)
	}
	rows := rowsOf(t, w, "all")
	for i, flags := range [][]string{{"--verdicts"}, {"--verdicts", "--verdicts_from_anywhere", "--listen", "0.0.0.0:0"}, nil} {
		p := launch(t, w, flags...)
		got := send(t, "POST", p.url+"/verdicts", verdictOf(t, rows[i], "false"))
		if want := map[bool]int{true: 200, false: 403}[flags != nil]; got.status != want {
			t.Errorf("%q: status %d, want %d: %s", flags, got.status, want, got.text)
		}
		if h := read[health](t, send(t, "GET", p.url+"/healthz", "")); h.Verdicts != min(i+1, 2) {
			t.Errorf("%q: %d verdicts", flags, h.Verdicts)
		}
		p.Process.Kill()
		p.end(t)
	}
	if text := pipelinetest.Read(t, w, verdicts.File); strings.Count(text, "\n") != 3 || !strings.Contains(text, fmt.Sprintf("\t%s\t", rows[1].Relation)) {
		t.Errorf("the file of verdicts is %q", text)
	}
}
