package serve

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/verdicts"
	"tagnet/model"
	"tagnet/model/answer/pattern"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestPattern compares the answers of a pattern with the library, and has requests that are refused.
func TestPattern(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	if err := s.model.Fit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	const text = `knows(?x, ?y), knows(?y, "Person 05"), not knows(?x, "Person 07")`
	for _, asked := range []model.Pattern{{Text: text}, {Text: text, Answer: "x", Bindings: 1}, {Text: text, Stated: true}} {
		want, err := s.model.Match(t.Context(), asked, 4)
		if err != nil {
			t.Fatal(err)
		}
		body := map[string]any{"pattern": text, "k": 4, "answer": asked.Answer, "stated": asked.Stated}
		if asked.Bindings > 0 {
			body["bindings"] = asked.Bindings
		}
		sent, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		got := send(t, "POST", address+"/pattern", string(sent))
		if diff := cmp.Diff(want, read[model.Matches](t, got)); diff != "" || len(want.List) == 0 {
			t.Errorf("%s (-library +served):\n%s", sent, diff)
		}
	}
	for body, want := range map[string]string{
		`{}`:                                      "400 pattern is missing",
		`{"pattern":"knows(?x"}`:                  "400 the pattern, letter 9, at its end: want a comma",
		`{"pattern":"knows(?x, nobody)"}`:         `404 the pattern, letter 11, before "nobody)": unknown entity "nobody"`,
		`{"pattern":"knows(?x, ?y)","k":0}`:       "400 k is 0",
		`{"pattern":"knows(?x,?y)","bindings":0}`: "400 bindings is 0: want 1 to 1000",
		`{"pattern":"` + strings.Repeat("x", mostPattern+1) + `"}`: "400 pattern has 4097 bytes",
	} {
		got := send(t, "POST", address+"/pattern", body)
		if !strings.HasPrefix(fmt.Sprint(got.status, " ", read[failure](t, got).Text), want) {
			t.Errorf("%.50s: %d %s, want %s", body, got.status, got.text, want)
		}
	}
}

// TestPatternVerdictsOfOthers asks a pattern when another process has judged a fact.
func TestPatternVerdictsOfOthers(t *testing.T) {
	w := listed(t)
	_, address := startListed(t, w)
	f := rowsOf(t, w, "all")[0]
	asked := pattern.Atom{Relation: f.Relation, Head: pattern.Term{Name: "x", Variable: true}, Tail: pattern.Term{Name: f.Tail}}
	body, err := json.Marshal(map[string]any{"pattern": asked.String(), "stated": true, "k": 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		matches := read[model.Matches](t, send(t, "POST", address+"/pattern", string(body)))
		if is := slices.ContainsFunc(matches.List, func(m model.Match) bool { return m.Entity == f.Head }); is != want {
			t.Errorf("%s is an answer of %v: %v, want %v", f.Head, asked, is, want)
		}
		pipelinetest.Write(t, filepath.Join(w, verdicts.File), strings.Join([]string{f.Head, f.Relation, f.Tail, "true"}, "\t")+"\n")
	}
}

// TestPagePattern asks a pattern on the page.
func TestPagePattern(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	if err := s.model.Fit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want, err := s.model.Match(t.Context(), model.Pattern{Text: `knows(?x, ?y), knows(?y, "Person 05")`}, 10)
	if err != nil {
		t.Fatal(err)
	}
	p := pipelinetest.OpenPage(t, address+"/", 400, 900)
	p.Wait(`document.documentElement.dataset.state == "ready"`)
	pipelinetest.EvaluateOnPage[bool](p,
		`($("steps").open = true, $("pattern").value = 'knows(?x, ?y), knows(?y, "Person 05")', $("asking").requestSubmit(), true)`)
	p.Wait(`document.querySelectorAll("#matches > ol > li").length > 0`)
	var entities []string
	for _, one := range want.List {
		entities = append(entities, one.Entity)
	}
	if diff := cmp.Diff(entities, list[string](p, "#matches > ol > li > a", "e.textContent")); diff != "" {
		t.Errorf("answers (-library +page):\n%s", diff)
	}
	if facts := list[string](p, "#matches ul > li", "e.textContent"); len(facts) != 2*len(entities) || !strings.Contains(facts[1], "knows Person 05 (") {
		t.Errorf("facts %q", facts)
	}
	if n := p.Overflow(); n > 0 {
		t.Errorf("%d pixels too wide", n)
	}
	pipelinetest.EvaluateOnPage[bool](p, `($("pattern").value = "knows(", $("asking").requestSubmit(), true)`)
	p.Wait(`document.querySelector("#matches .alert")?.textContent.startsWith("the pattern, letter 7, at its end: want a name")`)
	// An answer that comes after a later pattern's is not shown.
	pipelinetest.EvaluateOnPage[bool](p, `{
		const send = fetch, late = new Promise(answer => { release = () => send("types").then(answer).finally(() => setTimeout(() => released = true, 200)); });
		released = false;
		fetch = () => { fetch = send; return late; };
		$("pattern").value = 'knows(?x, "Person 07")', $("asking").requestSubmit();
		$("pattern").value = 'knows(?x, "Person 05")', $("asking").requestSubmit();
		true
	}`)
	p.Wait(`document.querySelectorAll("#matches > ol > li").length > 0`)
	shown := pipelinetest.EvaluateOnPage[string](p, `$("matches").textContent`)
	pipelinetest.EvaluateOnPage[bool](p, `(release(), true)`)
	p.Wait(`released`)
	if got := pipelinetest.EvaluateOnPage[string](p, `$("matches").textContent`); got != shown || strings.Contains(got, "Person 07)") {
		t.Errorf("a late answer shows %s, want %s", got, shown)
	}
}
