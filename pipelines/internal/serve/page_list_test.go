package serve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/names"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/pipelines/internal/pipelinetest"
)

const shownList = `document.documentElement.dataset.state == "listed"`

// textOf returns a fact as the page shows it.
func textOf(f parquet.Fact) string { return names.Escape(f.Head + " " + f.Relation + " " + f.Tail) }

// TestPageJudges looks through the list in a narrow and a wide window, judges facts of it and takes one verdict back.
func TestPageJudges(t *testing.T) {
	for _, width := range []int{400, 1280} {
		w := listed(t)
		_, address := startListed(t, w)
		rows := rowsOf(t, w, "all")
		p := pipelinetest.OpenPage(t, address+"/", width, 900)
		p.Wait(`document.documentElement.dataset.state == "ready"`)
		facts := func() []string { return list[string](p, "#rows th > div > span:first-child", "e.textContent") }
		click := func(selector string, i int) {
			pipelinetest.EvaluateOnPage[bool](p, fmt.Sprintf(`(document.querySelectorAll(%q)[%d].click(), true)`, selector, i))
		}
		fits := func(what string) {
			t.Helper()
			if n := p.Overflow(); n > 0 {
				t.Errorf("%d wide, %s: %d pixels too wide", width, what, n)
			}
		}
		var first []string
		for _, f := range rows[:10] {
			first = append(first, textOf(f))
		}
		if diff := cmp.Diff(first, facts()); diff != "" {
			t.Errorf("the first facts (-table +page):\n%s", diff)
		}
		fits("the start page")
		examples := list[string](p, "#examples a", "e.getAttribute('href')")
		click("#examples a", 2)
		p.Wait(answered)
		if got := pipelinetest.EvaluateOnPage[string](p, "location.search"); len(examples) != 3 || got != examples[2] ||
			!pipelinetest.EvaluateOnPage[bool](p, `$("list").hidden && $("start").hidden`) {
			t.Errorf("of the examples %q, the third leads to %s", examples, got)
		}
		click("#tabs a", 1)
		p.Wait(shownList)
		if got := facts(); len(got) != 50 || got[0] != first[0] || pipelinetest.EvaluateOnPage[string](p, "document.title") != "The list – tagnet" {
			t.Errorf("the list has %d facts on its first page, such as %q", len(got), got[0])
		}
		fits("the list")
		// A verdict is shown, and can be taken back, with the keyboard alone.
		for _, verdict := range []string{"True", "False", "False"} {
			pipelinetest.EvaluateOnPage[bool](p, `(source.blur(), $("who").value = "Ada", true)`)
			i := len(list[string](p, "#rows .known", "e.textContent")) // the first that is not judged
			pipelinetest.EvaluateOnPage[bool](p,
				fmt.Sprintf(`([...$("rows").children[%d].querySelectorAll("button")].find(b => b.textContent == %q).focus(), true)`,
					2*i, verdict))
			p.Press("Enter")
			p.Wait(fmt.Sprintf(`document.querySelectorAll("#rows .known").length == %d && document.activeElement.textContent == "Undo"`, i+1))
		}
		fits("judged facts")
		p.Press("Enter")
		p.Wait(`document.querySelectorAll("#rows .known").length == 2 && document.activeElement.textContent == "True"`)
		if got := list[string](p, "#rows .known", "e.textContent"); !slices.Equal(got, []string{"judged true", "judged false"}) {
			t.Errorf("the list says %q", got)
		}
		if got := pipelinetest.EvaluateOnPage[string](p, `$("told").textContent`); !strings.HasPrefix(got, "2 facts are judged.") {
			t.Errorf("the page says %q of verdicts", got)
		}
		if text := pipelinetest.Read(t, w, verdicts.File); strings.Count(text, "\tAda\t") != 4 {
			t.Errorf("the file of verdicts is %q", text)
		}
		// The address has what is wanted of the list.
		click("#after", 0)
		p.Wait(shownList + ` && location.search.includes("offset=50")`)
		if got := facts(); got[0] != textOf(rows[52]) {
			t.Errorf("the second page begins with %q, want %q", got[0], textOf(rows[52]))
		}
		pipelinetest.EvaluateOnPage[bool](p, `($("of").value = "<b>skips</b>", $("like").value = "zoe", $("judged").click(), true)`)
		p.Wait(shownList + ` && location.search.includes("judged=true") && !location.search.includes("offset")`)
		want := 0
		for _, f := range rows {
			if f.Relation == "<b>skips</b>" && strings.Contains(f.Head+f.Tail, "Zoë") {
				want++
			}
		}
		if got := facts(); want == 0 || len(got) != want {
			t.Errorf("%d facts of an entity with a relation, want %d: %q", len(got), want, got)
		}
		if got := list[string](p, "#files a", "new URL(e.href).search"); len(got) != 4 ||
			got[3] != "?relation=%3Cb%3Eskips%3C%2Fb%3E&name=zoe&judged=true&format=nt" {
			t.Errorf("the files are %q", got)
		}
		pipelinetest.EvaluateOnPage[bool](p, `([...document.querySelectorAll("#rows button")].find(b => b.textContent == "Why?").click(), true)`)
		p.Wait(`(c => c && c.textContent && !c.textContent.startsWith("Looking"))(document.querySelector("#rows td.paths"))`)
		fits("the reasons")
		pipelinetest.EvaluateOnPage[bool](p, `(history.back(), true)`)
		p.Wait(shownList + ` && location.search.includes("offset=50") && $("like").value == ""`)
		if said := p.Said(); len(said) > 0 {
			t.Errorf("%d wide: the console says %q", width, said)
		}
	}
}

// TestPageWithoutAList has a server without a list, and one that takes no verdicts.
func TestPageWithoutAList(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	p := pipelinetest.OpenPage(t, address+"/", 400, 900)
	p.Wait(`document.documentElement.dataset.state == "ready"`)
	if got := list[string](p, "#examples a", "e.textContent"); len(got) != 3 || !pipelinetest.EvaluateOnPage[bool](p, `$("list").hidden`) {
		t.Errorf("the examples are %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelectorAll("#tabs a")[1].click(), true)`)
	p.Wait(shownList)
	if got := pipelinetest.EvaluateOnPage[string](p, `$("order").textContent`); !strings.Contains(got, "no list of new facts") {
		t.Errorf("the page says %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelectorAll("#tabs a")[0].click(), true)`)
	p.Wait(`document.documentElement.dataset.state == "ready" && !$("form").hidden && $("list").hidden`)
	if said := p.Said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// TestPageWithoutVerdicts shows verdicts where none can be given.
func TestPageWithoutVerdicts(t *testing.T) {
	w := listed(t)
	_, address := startListed(t, w)
	f := rowsOf(t, w, "all")[0]
	send(t, "POST", address+"/verdicts", verdictOf(t, f, "false"))
	_, closed := startListed(t, w, func(o *settings) { o.takesVerdicts = false })
	p := pipelinetest.OpenPage(t, closed+"/?view=list&judged=true", 1280, 900)
	p.Wait(shownList)
	if got := list[string](p, "#rows tr:first-child .actions > *", "e.textContent"); !slices.Equal(got, []string{"judged false", "Why?"}) ||
		!pipelinetest.EvaluateOnPage[bool](p, `$("whose").hidden`) {
		t.Errorf("the first fact has %q", got)
	}
	known := ask(f.Head, f.Relation, "known", "true", "k", "100")
	p = pipelinetest.OpenPage(t, closed+"/"+strings.TrimPrefix(known, "/answer"), 1280, 900)
	p.Wait(answered)
	if got := list[string](p, "#answers .known", "e.textContent"); !slices.Contains(got, "judged false") {
		t.Errorf("known answers are marked %q", got)
	}
}
