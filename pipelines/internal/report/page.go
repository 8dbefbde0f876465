package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"tagnet/formats/names"
	"tagnet/model/study/chart"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"wrap": wrap, "breakable": breakable, "plain": names.Escape}).Parse(pageText))

// Of a name the page shows this many letters; a pointer shows more of a longer one.
const shownLetters, pointedLetters = 120, 1000

// wrap returns a name as HTML: escaped, shortened, and with breaks after the characters that join its words.
func wrap(name string) template.HTML {
	full := names.Escape(name)
	short := names.Shorten(full, shownLetters)
	html := template.HTML(wordEnds.Replace(template.HTMLEscapeString(short)))
	if short == full {
		return html
	}
	return template.HTML(`<span title="`+template.HTMLEscapeString(names.Shorten(full, pointedLetters))+`">`) + html + "</span>"
}

var wordEnds = strings.NewReplacer("_", "_<wbr>", "/", "/<wbr>", ".", ".<wbr>")

// breakable returns a sentence as HTML whose lines can break within the names in it.
func breakable(text string) template.HTML {
	return template.HTML(strings.NewReplacer("_", "_<wbr>", "/", "/<wbr>").Replace(template.HTMLEscapeString(names.Escape(text))))
}

// shown returns a name for use in a sentence.
func shown(name string) string { return names.Shorten(name, shownLetters/2) }

// page is the content of index.html, in its order.
type page struct {
	Title, Subtitle string
	// Findings are sentences about the results.
	Findings []string
	Style    template.CSS
	Tiles    []tile
	Sections []section
}

// tile is a number at the top of the page.
type tile struct{ Value, Name, Note string }

// section is a titled section of the page. All of its lists may be empty.
type section struct {
	ID, Title string
	Lead      []string
	Warnings  []string
	Gaps      []gap
	Figures   []figure
	Tables    []table
}

// gap is something that the page lacks, and the command that makes it.
type gap struct{ What, Command, Problem string }

// figure is a chart, or a small table between the charts, with its caption. Name is the chart's file
// without the ending.
type figure struct {
	Name, Title, Caption string
	SVG                  template.HTML
	Table                *table
}

// newFigure draws a chart. Package chart escapes all names.
func newFigure(name, title, caption string, drawn interface {
	SVG(title, description string) string
}) figure {
	return figure{Name: name, Title: title, Caption: caption, SVG: template.HTML(drawn.SVG(title, caption))}
}

// table is rows of cells below a head: a name, then numbers.
type table struct {
	Title, Note string
	Head        []string
	Rows        [][]cell
	// Folded hides the rows until the title is clicked, Words aligns all cells as text, Described the second column.
	Folded, Words, Described bool
}

// figure returns a small table as a figure.
func (t table) figure() figure { return figure{Title: t.Title, Caption: t.Note, Table: &t} }

// cell is a text, with a bar behind it if Bar is set.
type cell struct {
	Text string
	Bar  template.CSS
}

// add appends a row and returns it.
func (t *table) add(texts ...string) []cell {
	row := make([]cell, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	t.Rows = append(t.Rows, row)
	return row
}

// bar returns the style of a bar that fills a share of its cell.
func bar(share float64) template.CSS {
	return template.CSS(fmt.Sprintf("--share:%.3f", max(0, min(1, share))))
}

// html returns the whole page, self-contained.
func (p page) html() ([]byte, error) {
	p.Style = template.CSS(chart.Style + "\n" + pageStyle)
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return out.Bytes(), nil
}
