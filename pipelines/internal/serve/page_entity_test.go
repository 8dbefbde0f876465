package serve

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/pipelinetest"
)

// The names of the hub's graph that are hard to show.
const rightToLeft = "محمد (موسى)"

var longest = strings.Repeat("W", 300) + " \U0001F469\u200D\U0001F52C " + strings.Repeat("very long ", 200)

// hubOnce trains a model of an entity with many facts of one relation, in both directions, and one fact
// of each of 59 others.
var hubOnce = sync.OnceValues(func() (*model.Model, error) {
	facts := []model.Triple{{Head: "Hub", Relation: "knows", Tail: rightToLeft}, {Head: "Hub", Relation: "knows", Tail: longest},
		{Head: "Hub", Relation: longest, Tail: longest}}
	for i := range 24 {
		facts = append(facts, model.Triple{Head: "Hub", Relation: "knows", Tail: person(i)})
	}
	for i := range 33 {
		facts = append(facts, model.Triple{Head: fmt.Sprintf("Neighbor %02d", i), Relation: "knows", Tail: "Hub"})
	}
	for i := range 58 {
		facts = append(facts, model.Triple{Head: "Hub", Relation: fmt.Sprintf("relation %02d", i), Tail: fmt.Sprintf("Neighbor %02d", i%33)})
	}
	c := configuration.Default()
	c.Layers, c.Dim, c.Epochs, c.BatchSize, c.Negatives = 2, 8, 1, 8, 8
	return model.Train(context.Background(), model.Facts{Train: facts}, c, 1, nil)
})

// menuOnce trains a model of doctors and drugs.
var menuOnce = sync.OnceValues(func() (*model.Model, error) {
	var facts []model.Triple
	for i := range 12 {
		doctor, patient := fmt.Sprintf("Doctor %02d", i), fmt.Sprintf("Patient %02d", i)
		facts = append(facts, model.Triple{Head: doctor, Relation: "treats", Tail: patient}, model.Triple{Head: doctor, Relation: "cures", Tail: patient},
			model.Triple{Head: fmt.Sprintf("Drug %02d", i), Relation: "made_of", Tail: fmt.Sprintf("Matter %02d", i%3)})
	}
	facts = append(facts, model.Triple{Head: "Ann", Relation: "treats", Tail: "Patient 00"},
		model.Triple{Head: "Doctor 01", Relation: "married", Tail: "Doctor 02"})
	c := configuration.Default()
	c.Layers, c.Dim, c.Epochs, c.BatchSize, c.Negatives = 2, 8, 1, 8, 8
	return model.Train(context.Background(), model.Facts{Train: facts}, c, 1, nil)
})

func startHub(t testing.TB) (*server, string) {
	t.Helper()
	m, err := hubOnce()
	if err != nil {
		t.Fatal(err)
	}
	return start(t, func(o *settings) { o.model = m })
}

const shownEntity = `document.documentElement.dataset.state == "shown"`

// TestPageShowsAnEntity chooses an entity, asks about one of its relations, and follows the page back and forward. A
// link to what is shown opens it again.
func TestPageShowsAnEntity(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	p := pipelinetest.OpenPage(t, address, 1000, 900)
	p.Wait(`document.documentElement.dataset.state == "ready"`)
	p.Type("PERSON 1")
	p.Wait(`document.querySelectorAll("[role=option]").length == 10`)
	if got := list[string](p, "[role=option] mark", "e.textContent"); len(got) != 10 || got[0] != "Person 1" {
		t.Errorf("marked are %q", got)
	}
	p.Press("Escape")
	if !pipelinetest.EvaluateOnPage[bool](p, `document.querySelector("#names").hidden`) {
		t.Error("Escape leaves the list open")
	}
	p.Press("ArrowUp")
	p.Wait(`!document.querySelector("#names").hidden`)
	p.Press("ArrowUp") // the last one
	p.Press("Enter")
	p.Wait(shownEntity)
	where := `location.search + " " + document.title`
	if got := pipelinetest.EvaluateOnPage[string](p, where); got != "?source=Person+19 Person 19 – tagnet" {
		t.Errorf("the address and the title are %q", got)
	}
	if got := pipelinetest.EvaluateOnPage[string](p,
		`document.querySelector("#name").textContent + ": " + document.querySelector("#summary").textContent`); got != "Person 19: 4 known facts" {
		t.Errorf("the page says %q", got)
	}
	want := []string{"Person 19 <b>skips</b> ? 1 known fact", "Person 19 knows ? 1 known fact", "? <b>skips</b> Person 19 1 known fact",
		"? knows Person 19 1 known fact"}
	if diff := cmp.Diff(want, list[string](p, "#asks a", "e.textContent")); diff != "" {
		t.Errorf("relations (-want +page):\n%s", diff)
	}
	drawn := list[string](p, "#graph a", `e.getAttribute("aria-label")`)
	if diff := cmp.Diff([]string{"Person 19 <b>skips</b> Person 21", "Person 19 knows Person 20", "Person 17 <b>skips</b> Person 19",
		"Person 18 knows Person 19"}, drawn); diff != "" {
		t.Errorf("facts (-want +page):\n%s", diff)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelectorAll("#asks a")[3].focus(), true)`)
	p.Press("Enter")
	p.Wait(answered)
	queried := "?source=Person+19&relation=%7Eknows ? knows Person 19 – tagnet"
	if got := pipelinetest.EvaluateOnPage[string](p, where); got != queried {
		t.Errorf("the address and the title are %q", got)
	}
	if got := pipelinetest.EvaluateOnPage[string](p, `document.activeElement.id`); got != "heading" {
		t.Errorf("the keyboard continues at %q", got)
	}
	answers := list[string](p, "#answers th", "e.textContent")
	again := pipelinetest.OpenPage(t, pipelinetest.EvaluateOnPage[string](p, "location.href"), 1000, 900)
	again.Wait(answered)
	if got := list[string](again, "#answers th", "e.textContent"); len(got) != 10 || !slices.Equal(got, answers) {
		t.Errorf("the link shows %q, want %q", got, answers)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("#graph a").focus(), true)`)
	p.Press("Enter") // a neighbor
	p.Wait(shownEntity)
	if got := pipelinetest.EvaluateOnPage[string](p, where); got != "?source=Person+21 Person 21 – tagnet" {
		t.Errorf("the address and the title are %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(history.back(), true)`)
	p.Wait(answered)
	if got := pipelinetest.EvaluateOnPage[string](p, where); got != queried || !slices.Equal(list[string](p, "#answers th", "e.textContent"), answers) {
		t.Errorf("back shows %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(history.back(), true)`)
	p.Wait(shownEntity)
	if got := pipelinetest.EvaluateOnPage[string](p,
		`document.querySelector("#name").textContent + document.querySelector("#source").value + `+
			`document.querySelector("#result").hidden`); got != "Person 19Person 19true" {
		t.Errorf("back twice shows %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(history.forward(), true)`)
	p.Wait(answered)
	if said := p.Said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// TestPageOfAHub has an entity with many facts and relations, and names that are hard to show, in
// narrow and wide windows.
func TestPageOfAHub(t *testing.T) {
	t.Parallel()
	_, address := startHub(t)
	for _, width := range []int{360, 1000} {
		p := pipelinetest.OpenPage(t, address+"/?source=Hub", width, 800)
		p.Wait(shownEntity)
		// 3 of each of two relations, and those of 10 others
		if got := pipelinetest.EvaluateOnPage[[2]int](p,
			`[document.querySelectorAll("#asks a").length, document.querySelectorAll("#graph a").length]`); got != [2]int{40, 16} {
			t.Errorf("%d wide: %v relations and neighbors", width, got)
		}
		buttons := p.Accessible("button")
		if want := []string{"Show more of 30 other facts with ~knows", "Show more of 23 other facts with knows"}; !slices.Contains(buttons, want[0]) ||
			!slices.Contains(buttons, want[1]) {
			t.Errorf("%d wide: no %q among the buttons %q", width, want, buttons)
		}
		for _, want := range []int{26, 33} { // the page has 6 of them, and asks for 20 more at a time
			pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("#graph [role=button][aria-label$=' ~knows']").focus(), true)`)
			p.Press(" ")
			p.Wait(fmt.Sprintf(`[...document.querySelectorAll("#graph a")].filter(e => e.getAttribute("aria-label").endsWith(" knows Hub")).length == %d`,
				want))
			first := map[int]string{26: "Neighbor 03 knows Hub", 33: "Neighbor 26 knows Hub"}[want]
			if got := pipelinetest.EvaluateOnPage[string](p, `document.activeElement.getAttribute("aria-label")`); got != first {
				t.Errorf("%d wide: the keyboard continues at %q, want %q", width, got, first)
			}
		}
		pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("#further").click(), true)`)
		p.Wait(`document.querySelectorAll("#asks a").length == 61 && document.querySelector("#further").hidden`)
		if n := p.Overflow(); n > 0 {
			t.Errorf("%d wide: %d pixels too wide", width, n)
		}
		checkTexts(t, p, width)
		p.Resize(1360-width, 800)
		p.Wait(fmt.Sprintf(`Math.abs(document.querySelector("#graph svg").getBoundingClientRect().width - `+
			`document.querySelector("#graph").clientWidth) < 1 && innerWidth == %d`, 1360-width))
		checkTexts(t, p, 1360-width)
		p = pipelinetest.OpenPage(t, address+"/?"+url.Values{"source": {longest}, "relation": {longest}}.Encode(), width, 800)
		p.Wait(answered)
		if n := p.Overflow(); n > 0 {
			t.Errorf("%d wide, with long names: %d pixels too wide", width, n)
		}
		checkTexts(t, p, width)
		if got := pipelinetest.EvaluateOnPage[float64](p, `document.querySelector("#answers").getBoundingClientRect().height / 10`); got > 250 {
			t.Errorf("%d wide: the rows of long names are %g high on average", width, got)
		}
		if said := p.Said(); len(said) > 0 {
			t.Errorf("%d wide: the console says %q", width, said)
		}
	}
}

// checkTexts checks that no text of the picture leaves the window, and that none lies on another.
func checkTexts(t *testing.T, p *pipelinetest.Page, width int) {
	t.Helper()
	type box struct {
		Left, Right, Top, Bottom float64
		Text                     string
	}
	boxes := list[box](p, "#graph text", "(({left, right, top, bottom}) => ({left, right, top, bottom, text: e.textContent}))(e.getBoundingClientRect())")
	if len(boxes) == 0 {
		t.Errorf("%d wide: the picture is empty", width)
	}
	for i, a := range boxes {
		if a.Left < 0 || a.Right > float64(width) {
			t.Errorf("%d wide: %.40q reaches from %g to %g", width, a.Text, a.Left, a.Right)
		}
		for _, b := range boxes[i+1:] {
			if math.Min(a.Right, b.Right) > math.Max(a.Left, b.Left)+1 && math.Min(a.Bottom, b.Bottom) > math.Max(a.Top, b.Top)+1 {
				t.Errorf("%d wide: %.40q lies on %.40q", width, a.Text, b.Text)
			}
		}
	}
}

// TestPageCSV reads the file that the page offers.
func TestPageCSV(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	p := pipelinetest.OpenPage(t, address+"/?"+url.Values{"source": {markup}, "relation": {"~<b>skips</b>"}, "k": {"24"}, "known": {"true"}}.Encode(), 1000,
		900)
	p.Wait(answered)
	text := pipelinetest.EvaluateOnPage[string](p, `fetch(document.querySelector("#csv").href).then(response => response.text())`)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%q, %v", text, err)
	}
	var shown [][]string
	for i, name := range list[string](p, "#answers th", "e.textContent") {
		shown = append(shown, []string{strconv.Itoa(i + 1), strings.TrimSuffix(name, " known")})
	}
	var saved [][]string
	for _, row := range rows[1:] {
		saved = append(saved, []string{row[2], strings.NewReplacer("\a", `\a`, "\u202e", `\u202e`).Replace(row[3])})
	}
	if diff := cmp.Diff(shown, saved); diff != "" {
		t.Errorf("answers (-page +file):\n%s", diff)
	}
	if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("#csv").download`); got != "answers.csv" {
		t.Errorf("the file is called %q", got)
	}
}

// TestPageIsAccessible checks what a screen reader is told, in the accessibility tree.
func TestPageIsAccessible(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	p := pipelinetest.OpenPage(t, address+"/?source=Person+07&relation=knows&k=2", 1000, 900)
	p.Wait(answered)
	answers := list[string](p, "#answers bdi", "e.textContent")
	for role, want := range map[string][]string{
		"combobox":   {"Entity", "Relation"},
		"radio":      {"Person 07 knows ?", "? knows Person 07"},
		"spinbutton": {"Answers"},
		"checkbox":   {"known ones, too"},
		"heading":    {"Ask the knowledge graph", "Person 07 knows ?", "Person 07", "Ask about its relations", "Known facts"},
		"region":     {"Person 07 knows ?", "Person 07"},
		"rowheader":  answers,
		"button":     {"Ask", "Copy link", "Why " + answers[0] + "?", "Why " + answers[1] + "?"},
		"group":      {"A query of several steps", "What is unknown?", "Known facts of Person 07", "of this entity"}, // the last is in the menu
	} {
		if diff := cmp.Diff(want, p.Accessible(role)); diff != "" {
			t.Errorf("%s (-want +page):\n%s", role, diff)
		}
	}
	links := p.Accessible("link")
	for _, want := range []string{answers[0], "CSV file of the answers", "Person 07 knows ? 1 known fact", "Person 06 knows Person 07"} {
		if !slices.Contains(links, want) {
			t.Errorf("no link %q among %q", want, links)
		}
	}
	if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("#status").textContent`); got != "2 answers" {
		t.Errorf("the status is %q", got)
	}
	// Each control is reached by the Tab key, and shows that it is.
	pipelinetest.EvaluateOnPage[bool](p, `(document.body.focus(), document.activeElement.blur(), true)`)
	controls := pipelinetest.EvaluateOnPage[int](p,
		`[...document.querySelectorAll("input, select, button, a[href], [tabindex='0']")].filter(e => e.checkVisibility() && `+
			`!(e.type == "radio" && !e.checked)).length`)
	seen := map[string]bool{}
	for range controls + 1 {
		p.Press("Tab")
		if pipelinetest.EvaluateOnPage[bool](p, "document.activeElement == document.body") {
			continue // between the last one and the first one
		}
		at := pipelinetest.EvaluateOnPage[string](p,
			`(e => { const all = [...document.querySelectorAll("*")], style = getComputedStyle(e), text = e.querySelector("text");
			return all.indexOf(e) + (style.outlineStyle != "none" || text && getComputedStyle(text).textDecorationLine == "underline" ?
				"" : " without a sign: " + e.outerHTML) })(document.activeElement)`)
		seen[at] = true
		if strings.Contains(at, "without") {
			t.Errorf("the focus is at %s", at)
		}
	}
	if len(seen) != controls {
		t.Errorf("the Tab key reaches %d of %d controls", len(seen), controls)
	}
}

var rgb = regexp.MustCompile(`rgba?\((\d+), (\d+), (\d+)(?:, ([0-9.]+))?\)`)

// luminance returns that of a color, as WCAG defines it, and whether the color covers what is behind it.
func luminance(t *testing.T, color string) (float64, bool) {
	t.Helper()
	found := rgb.FindStringSubmatch(color)
	if found == nil {
		t.Fatalf("the color %q", color)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		part, err := strconv.ParseFloat(found[i+1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if part /= 255; part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weight * part
	}
	return sum, found[4] == "" || found[4] == "1"
}

// TestPageColors checks that texts contrast with what is behind them, in light and dark colors, and that the page is
// dark where the user wants it.
func TestPageColors(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	p := pipelinetest.OpenPage(t, address+"/?source=Person+07&relation=knows&k=3", 1000, 900)
	for _, dark := range []bool{false, true} {
		p.Dark(dark)
		p.Wait(answered)
		type text struct {
			Color  string
			Behind []string // from the text outward
			Text   string
		}
		texts := list[text](p, "h1, h2 *, h3, p, label, legend, input, select, button, th, td, bdi, .count, .hole, .known, footer a, #graph text", `({
			color: e.closest("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color, text: e.id + e.textContent,
			behind: (() => { const all = []; for (let up = e; up; up = up.parentElement) all.push(getComputedStyle(up).backgroundColor); return all })()})`)
		if len(texts) < 60 {
			t.Errorf("%d texts", len(texts))
		}
		for _, of := range texts {
			front, _ := luminance(t, of.Color)
			for _, color := range of.Behind {
				behind, covers := luminance(t, color)
				if !covers {
					continue
				}
				if (behind < 0.2) != dark && of.Text != "askAsk" && of.Text != "matchAsk" { // the button has the color of an accent
					t.Errorf("dark %v: behind %q is %s", dark, of.Text, color)
				}
				if contrast := (math.Max(front, behind) + 0.05) / (math.Min(front, behind) + 0.05); !(contrast >= 4.5) {
					t.Errorf("dark %v: the contrast of %q is %.2f", dark, of.Text, contrast)
				}
				break
			}
		}
	}
}

// TestPageWaits has a server that answers slowly, not at all, and again.
func TestPageWaits(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	release := block(t, s)
	p := pipelinetest.OpenPage(t, address+"/?source=Person+07&relation=knows", 360, 800)
	p.Wait(`/^Asking … [1-9]/.test(document.querySelector("#waited").textContent)`)
	if n := p.Overflow(); n > 0 {
		t.Errorf("%d pixels too wide", n)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("#cancel").click(), true)`)
	p.Wait(`document.querySelector("#waiting").hidden && document.documentElement.dataset.state == "refused"`)
	if got := pipelinetest.EvaluateOnPage[string](p, `document.querySelector("#status").textContent`); got != "Canceled" {
		t.Errorf("the status is %q", got)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("#ask").click(), true)`)
	p.Wait(`!document.querySelector("#waiting").hidden`)
	release()
	p.Wait(answered + ` && document.querySelector("#waiting").hidden`)
}

// TestPageSaysWhatFailed has a query that takes too long, and a server that stops and is started again.
func TestPageSaysWhatFailed(t *testing.T) {
	t.Parallel()
	s, _ := start(t, func(o *settings) { o.timeout = 300 * time.Millisecond })
	first := httptest.NewServer(s)
	release := block(t, s)
	p := pipelinetest.OpenPage(t, first.URL+"/?source=Person+07&relation=knows", 1000, 800)
	said := `document.querySelector("[role=alert]").textContent`
	again := `(document.querySelector("[role=alert] button").click(), true)`
	p.Wait(said + `.startsWith("the request took longer than 300ms")`)
	release()
	pipelinetest.EvaluateOnPage[bool](p, again)
	p.Wait(answered)
	first.CloseClientConnections()
	first.Close()
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelector("#ask").click(), true)`)
	p.Wait(said + `.startsWith("The server does not answer. Is it still running?")`)
	if !pipelinetest.EvaluateOnPage[bool](p, `document.querySelector("#result").hidden`) {
		t.Error("answers of an earlier query are shown")
	}
	pipelinetest.EvaluateOnPage[bool](p, `(source.focus(), source.dispatchEvent(new Event("input")), true)`)
	p.Wait(`document.querySelector("#names").textContent.startsWith("The server does not answer")`)
	listener, err := net.Listen("tcp", strings.TrimPrefix(first.URL, "http://"))
	if err != nil {
		t.Skipf("the port was taken: %v", err)
	}
	second := &http.Server{Handler: s, ReadHeaderTimeout: headerTimeout}
	go func() { _ = second.Serve(listener) }()
	defer second.Close()
	pipelinetest.EvaluateOnPage[bool](p, again)
	p.Wait(answered)
	if got := pipelinetest.EvaluateOnPage[string](p, said); got != "" {
		t.Errorf("the page still says %q", got)
	}
}
