package serve

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/names"
	"tagnet/model"
	"tagnet/pipelines/internal/pipelinetest"
)

// list evaluates an expression over the elements that a selector finds, each called e.
func list[T any](p *pipelinetest.Page, selector, expression string) []T {
	return pipelinetest.EvaluateOnPage[[]T](p, "[...document.querySelectorAll('"+selector+"')].map(e => "+expression+")")
}

const answered = `document.documentElement.dataset.state == "answered"`

// TestPageAnswers asks with the keyboard alone, in a narrow and in a wide window, and looks at the paths of an answer.
func TestPageAnswers(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	for _, width := range []int{420, 1280} {
		p := pipelinetest.OpenPage(t, address, width, 900)
		p.Wait(`document.documentElement.dataset.state == "ready"`)
		if got := pipelinetest.EvaluateOnPage[string](p,
			`document.activeElement.id + " " + document.activeElement.getAttribute("role")`); got != "source combobox" {
			t.Errorf("the focus is on %s", got)
		}
		if heights := list[float64](p, "input[type=text],input[type=number],select,[type=submit]", "e.offsetHeight || 40"); slices.Min(heights) != 40 ||
			slices.Max(heights) != 40 {
			t.Errorf("%d wide: the fields have the heights %v", width, heights)
		}
		p.Type("rson 0") // names begin with Pe
		p.Wait(`document.querySelectorAll("[role=option]").length == 8`)
		if n := p.Overflow(); n > 0 {
			t.Errorf("%d wide, with suggestions: %d pixels too wide", width, n)
		}
		p.Press("ArrowDown")
		p.Press("ArrowDown")
		if got := pipelinetest.EvaluateOnPage[string](p,
			`document.getElementById(document.querySelector("#source").getAttribute("aria-activedescendant")).textContent`); got != "Person 01" {
			t.Errorf("the second suggestion is %q", got)
		}
		p.Press("Enter")
		if got := pipelinetest.EvaluateOnPage[[2]string](p,
			`[document.querySelector("#source").value, document.querySelector("#source").getAttribute("aria-expanded")]`); got != [2]string{"Person 01",
			"false"} {
			t.Errorf("after the choice: %q", got)
		}
		p.Press("Enter")
		p.Wait(answered)
		want, err := s.model.AskAll(t.Context(), asQueries("Person 01", "<b>skips</b>"), 10)
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, a := range want[0].List {
			shown = append(shown, names.Escape(a.Entity))
		}
		if diff := cmp.Diff(shown, list[string](p, "#answers th", "e.textContent")); diff != "" {
			t.Errorf("answers (-model +page):\n%s", diff)
		}
		if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("#heading").textContent`); got != "Person 01 <b>skips</b> ?" {
			t.Errorf("heading %q", got)
		}
		if n := p.Overflow(); n > 0 {
			t.Errorf("%d wide, with answers: %d pixels too wide", width, n)
		}
		row := slices.IndexFunc(want[0].List, func(a model.Answer) bool { return a.Hops > 0 }) // others have no path
		pipelinetest.EvaluateOnPage[bool](p, fmt.Sprintf(`(document.querySelectorAll("#answers button")[%d].focus(), true)`, row))
		p.Press("Enter")
		p.Wait(`document.querySelector("td.paths svg")`)
		why, err := s.model.Explain(t.Context(), asQueries("Person 01", "<b>skips</b>")[0], want[0].List[row].Entity, 5)
		if err != nil {
			t.Fatal(err)
		}
		note, below := "weight", s.model.PathWeights()
		if len(why.Reasons) > 0 {
			note, below = fmt.Sprintf("(so in %d of %d)", why.Reasons[0].Support, why.Reasons[0].Cases), "So in 8 of 10: "
		}
		if got := list[string](p, "tr:not([hidden]) td.paths li", "e.textContent"); len(got) != len(why.Reasons)+len(why.Paths) ||
			!strings.HasPrefix(got[0], "Person 01 ") || !strings.Contains(got[0], note) {
			t.Errorf("reasons %q, want %d with %q", got, len(why.Reasons)+len(why.Paths), note)
		}
		if got := list[string](p, "tr:not([hidden]) td.paths p", "e.textContent"); len(got) != 1 || !strings.HasPrefix(got[0], below) {
			t.Errorf("below the reasons %q, want what their numbers are", got)
		}
		if n := p.Overflow(); n > 0 {
			t.Errorf("%d wide, with paths: %d pixels too wide", width, n)
		}
		checkDrawing(t, p, width)
		if said := p.Said(); len(said) > 0 {
			t.Errorf("%d wide: the console says %q", width, said)
		}
	}
}

// checkDrawing checks that the drawing of paths fits the window, that its letters are large enough to read, and that it
// has the page's style.
func checkDrawing(t *testing.T, p *pipelinetest.Page, width int) {
	t.Helper()
	type drawing struct{ Left, Right, Letters float64 }
	d := pipelinetest.EvaluateOnPage[drawing](p, `(() => {
		const svg = document.querySelector("td.paths svg"), box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width
		return {Left: box.left, Right: box.right, 
			Letters: scale * Math.min(...[...svg.querySelectorAll("text")].map(e => parseFloat(getComputedStyle(e).fontSize)))}})()`)
	if d.Left < 0 || d.Right > float64(width) || d.Letters < 11 || d.Letters > 12 {
		t.Errorf("%d wide: the drawing is %+v", width, d)
	}
	if fill := list[string](p, "td.paths svg .step", "getComputedStyle(e).fill"); slices.ContainsFunc(fill, func(f string) bool { return f != "none" }) {
		t.Errorf("%d wide: the lines are filled: %q", width, fill)
	}
}

// TestPageKeepsUnknownNames follows links with a relation and a type that the graph lacks: the page keeps them, says
// that they are unknown, and offers those that are like it.
func TestPageKeepsUnknownNames(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	p := pipelinetest.OpenPage(t, address+"/?source=Person+07&relation=~knowss&k=3", 420, 900)
	p.Wait(`document.documentElement.dataset.state == "refused"`)
	shown := `[document.querySelector("#source").value, document.querySelector("#relation").value, document.querySelector("[name=direction]:checked").value]`
	if got := pipelinetest.EvaluateOnPage[[3]string](p, shown); got != [3]string{"Person 07", "knowss", "head"} {
		t.Errorf("the form has %q", got)
	}
	if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("[role=alert]").textContent`); !strings.Contains(got,
		`unknown relation "knowss"`) {
		t.Errorf("the page says %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("[role=alert] button").click(), true)`)
	p.Wait(answered)
	if got := pipelinetest.EvaluateOnPage[[3]string](p, shown); got != [3]string{"Person 07", "knows", "head"} {
		t.Errorf("after the choice the form has %q", got)
	}
	p = pipelinetest.OpenPage(t, address+"/?source=Person+07&relation=knows&candidates=type:Drug", 420, 900)
	p.Wait(`document.documentElement.dataset.state == "refused"`)
	if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("[role=alert]").textContent`); !strings.Contains(got, "no entity types") {
		t.Errorf("the page says %q", got)
	}
}

// TestPageSaysWhatItShows has a relation called like a direction, and a form that changes while an answer is under way.
func TestPageSaysWhatItShows(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	p := pipelinetest.OpenPage(t, address+"/?source=Person+07&relation=knows&k=3", 800, 900)
	p.Wait(answered)
	pipelinetest.EvaluateOnPage[bool](p, `(pick($("relation"), "head"), visit({source: "Person 07", relation: "~knows", k: 3}), true)`)
	p.Wait(answered + ` && location.search.includes("%7E")`)
	shown := `[document.querySelector("[name=direction]:checked").value, document.querySelector("#heading").textContent, document.title]`
	if diff := cmp.Diff([3]string{"head", "? knows Person 07", "? knows Person 07 – tagnet"}, pipelinetest.EvaluateOnPage[[3]string](p, shown)); diff != "" {
		t.Error(diff)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(window.fetch = (f => async (...a) => { await new Promise(r => setTimeout(r, 300)); return f(...a); })(window.fetch),
		visit({source: "Person 07", relation: "knows", k: 4}), $("relation").value = "<b>skips</b>", true)`)
	p.Wait(answered + ` && document.querySelectorAll("#answers tr").length >= 4`)
	if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("#heading").textContent`); got != "Person 07 knows ?" {
		t.Errorf("the heading above the answers is %q", got)
	}
}

// TestPageShowsNamesAsText has names with markup, which must neither become elements nor run.
func TestPageShowsNamesAsText(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	query := url.Values{"source": {markup}, "relation": {"~<b>skips</b>"}, "k": {"24"}}
	p := pipelinetest.OpenPage(t, address+"/?"+query.Encode(), 1280, 900)
	p.Wait(answered)
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelectorAll("#answers button").forEach(b => b.click()), true)`)
	p.Wait(`[...document.querySelectorAll("td.paths")].every(cell => cell.textContent && !cell.textContent.startsWith("Looking"))`)
	pipelinetest.EvaluateOnPage[bool](p, `(source.focus(), source.value = "<IMG", source.dispatchEvent(new Event("input")), true)`)
	p.Wait(`document.querySelector("[role=option]")`)
	if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("[role=option]").textContent`); got != markup {
		t.Errorf("suggestion %q", got)
	}
	type found struct {
		Title, Heading  string
		Images, Scripts int
		Bold, Drawings  int
		Hidden, Shown   bool
	}
	got := pipelinetest.EvaluateOnPage[found](p,
		`({Title: document.title, Heading: document.querySelector("#heading").textContent, Images: document.images.length,
		Scripts: document.scripts.length, Bold: document.querySelectorAll("b").length, Drawings: Math.min(1, document.querySelectorAll("svg").length),
		Hidden: /[\u0000-\u0008\u000b-\u001f\u202e]/.test(document.body.innerText), Shown: document.body.innerText.includes("Bell\\a and \\u202eturn")})`)
	if diff := cmp.Diff(found{Title: "? <b>skips</b> " + markup + " – tagnet", Heading: "? <b>skips</b> " + markup, Scripts: 3, Drawings: 1, Shown: true},
		got); diff != "" {
		t.Errorf("the page (-want +got):\n%s", diff)
	}
	checkEscapes(t, p)
	// Even a script that got in does not run, and nothing is loaded from elsewhere.
	if !pipelinetest.EvaluateOnPage[bool](p,
		`(() => { const s = document.createElement("script"); s.textContent = "window.broken = 1"; document.body.append(s); return `+
			`window.broken === undefined })()`) {
		t.Error("the policy lets a script run that is not the page's")
	}
	if pipelinetest.EvaluateOnPage[bool](p, `fetch("http://127.0.0.1:1/").then(() => true, () => false)`) {
		t.Error("the policy lets the page connect elsewhere")
	}
}

// checkEscapes compares the page's function for names with the one of formats/names.
func checkEscapes(t *testing.T, p *pipelinetest.Page) {
	t.Helper()
	var all strings.Builder
	for r := range rune(0x2100) {
		all.WriteRune(r)
	}
	all.WriteString("\ufeff👩\u200d🔬")
	text, err := json.Marshal(all.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names.Escape(all.String()), pipelinetest.EvaluateOnPage[string](p, "visible("+string(text)+")")); diff != "" {
		t.Errorf("names (-formats +page):\n%s", diff)
	}
}

// TestPageOffersTheClosestNames has a name that the graph lacks.
func TestPageOffersTheClosestNames(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	p := pipelinetest.OpenPage(t, address+"/?source=person+07&relation=knows&k=3", 420, 900)
	p.Wait(`document.documentElement.dataset.state == "refused"`)
	if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("[role=alert]").textContent`); !strings.Contains(got,
		`unknown entity "person 07"`) {
		t.Errorf("the page says %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("[role=alert] button").click(), true)`)
	p.Wait(answered)
	if got := list[string](p, "#answers th", "e.textContent"); len(got) != 3 {
		t.Errorf("answers %q", got)
	}
	if got := pipelinetest.EvaluateOnPage[string](p, "location.search"); got != "?source=Person+07&relation=knows&k=3" {
		t.Errorf("the address is %q", got)
	}
	if n := p.Overflow(); n > 0 {
		t.Errorf("%d pixels too wide", n)
	}
}

// TestPageShowsProbabilities has a server that fits while the page waits: the page says so, and shows probabilities
// once there are some. Known answers are hidden until they are queried for.
func TestPageShowsProbabilities(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	s.fitting.total.Store(100)
	s.fitting.done.Store(34)
	p := pipelinetest.OpenPage(t, address+"/?source=Person+07&relation=knows&k=3", 800, 900)
	p.Wait(answered)
	said := func(id string) string {
		return pipelinetest.EvaluateOnPage[string](p, `document.querySelector("`+id+`").textContent`)
	}
	if got := said("#fitting"); got != "Probabilities are being computed, 34%." {
		t.Errorf("while they are fitted, the page says %q", got)
	}
	if got := said("#note"); !strings.Contains(got, "The highest score first.") || !strings.Contains(got, "Known answers are left out.") {
		t.Errorf("the page says %q", got)
	}
	if got := list[string](p, "#answers .known", "e.textContent"); len(got) > 0 {
		t.Errorf("known answers are shown: %q", got)
	}
	s.fit(t.Context(), nil, func(string) {})
	p.Wait(`document.querySelector("#fitting").textContent == "" && ` + answered)
	want, err := s.model.Ask(t.Context(), model.Query{Source: "Person 07", Relation: "knows"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	var odds []string
	for _, a := range want.List {
		odds = append(odds, model.Odds(a.Probability))
	}
	if diff := cmp.Diff(odds, list[string](p, "#answers tr > td:nth-child(3)", "e.textContent")); diff != "" || odds[0] == "" {
		t.Errorf("probabilities (-model +page):\n%s", diff)
	}
	if got := said("#note"); !strings.Contains(got, "The most probable first") {
		t.Errorf("the page says %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("#known[type=checkbox]").click(), document.querySelector("#ask").click(), true)`)
	p.Wait(answered + ` && location.search.includes("known=true") && document.querySelector("#answers .known")`)
	if got := list[string](p, "#answers tr:has(.known) th", "e.textContent"); len(got) != 1 || got[0] != "Person 08 known" {
		t.Errorf("known answers are %q", got)
	}
	if said := p.Said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// TestPageMenu has an entity that lacks relations: the menu offers its own ones, then those of entities like it, and
// all others when they are wanted.
func TestPageMenu(t *testing.T) {
	t.Parallel()
	m, err := menuOnce()
	if err != nil {
		t.Fatal(err)
	}
	_, address := start(t, func(o *settings) { o.model = m })
	p := pipelinetest.OpenPage(t, address+"/?source=Ann", 800, 900)
	p.Wait(shownEntity + ` && document.querySelector("#relation optgroup")`)
	groups := func() []string {
		return list[string](p, "#relation optgroup", `e.label + ": " + [...e.children].map(o => o.value).join(", ")`)
	}
	if diff := cmp.Diff([]string{"of this entity: treats", "of entities like it: cures, married"}, groups()); diff != "" {
		t.Errorf("the menu (-want +page):\n%s", diff)
	}
	heads := `document.querySelector("[name=direction][value=head]").disabled`
	if !pipelinetest.EvaluateOnPage[bool](p, heads) {
		t.Error("the menu asks who treats a doctor")
	}
	pipelinetest.EvaluateOnPage[bool](p, `($("relation").value = "", $("relation").dispatchEvent(new Event("change")), true)`)
	if got := pipelinetest.EvaluateOnPage[string](p,
		`[...$("relation").options].map(o => o.value).join(", ") + "; " + $("relation").value`); got != "cures, made_of, married, treats; treats" {
		t.Errorf("all relations are %q", got)
	}
	if pipelinetest.EvaluateOnPage[bool](p, heads) {
		t.Error("with all relations, one direction cannot be asked")
	}
	p = pipelinetest.OpenPage(t, address+"/?source=Ann&relation=~made_of", 800, 900)
	p.Wait(answered)
	if got := pipelinetest.EvaluateOnPage[string](p, "asked()"); got != "~made_of" {
		t.Errorf("the form asks %q, the address ~made_of", got)
	}
}
