package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"tagnet/pipelines/internal/report/chart"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"wrap": wrap}).Parse(pageText))

// wrap escapes a name and lets a line end after the characters that join its words.
func wrap(name string) template.HTML {
	return template.HTML(wordEnds.Replace(template.HTMLEscapeString(name)))
}

var wordEnds = strings.NewReplacer("_", "_<wbr>", "/", "/<wbr>", ".", ".<wbr>")

// page is the content of index.html, in its order.
type page struct {
	Title, Subtitle string
	// Style and Charts are the style sheets.
	Style    template.CSS
	Tiles    []tile
	Sections []section
}

// tile is a number at the top of the page.
type tile struct{ Value, Name, Note string }

// section is a part of the page. All of its lists may be empty.
type section struct {
	ID, Title string
	Lead      []string
	Gaps      []gap
	Figures   []figure
	Tables    []table
	Cards     []card
}

// gap is a missing part of the page and the command that makes it.
type gap struct{ What, Command, Problem string }

// figure is a chart with its caption, or a small table in the place of one. Name is that of
// the chart's file, without the ending.
type figure struct {
	Name, Title, Caption string
	SVG                  template.HTML
	Table                *table
}

// newFigure holds what package chart drew, which has escaped all names.
func newFigure(name, title, caption, svg string) figure {
	return figure{Name: name, Title: title, Caption: caption, SVG: template.HTML(svg)}
}

// table is rows of cells below a head.
type table struct {
	Title, Note string
	Head        []cell
	Rows        [][]cell
	// Folded hides the rows until the title is clicked.
	Folded bool
}

// beside puts a small table among the figures.
func beside(t table) figure {
	f := figure{Title: t.Title, Caption: t.Note, Table: &t}
	return f
}

// cell is a text, a number, or a share that is drawn as a bar behind its text.
type cell struct {
	Text   string
	Number bool
	Bar    template.CSS // "" without a bar
}

func text(s string) cell { return cell{Text: s} }

func number(s string) cell { return cell{Text: s, Number: true} }

// bar is a number between 0 and 1 with its share of the cell filled.
func bar(s string, share float64) cell {
	share = max(0, min(1, share))
	return cell{Text: s, Number: true, Bar: template.CSS(fmt.Sprintf("--share:%.3f", share))}
}

// card is a query with the model's candidates.
type card struct {
	Source, Relation string
	// Reciprocal is set where the answer is the head of a fact.
	Reciprocal bool
	Verdict    string
	Good       bool
	Answers    []answer
}

// answer is one candidate of a card.
type answer struct {
	Rank, Entity, Probability string
	Mark                      string // "expected", "known" or ""
	Share                     template.CSS
}

// html is the whole page, self-contained.
func (p page) html() ([]byte, error) {
	p.Style = template.CSS(chart.Style + "\n" + pageStyle)
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return out.Bytes(), nil
}
