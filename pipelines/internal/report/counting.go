package report

import (
	"fmt"
	"strconv"
	"strings"

	"tagnet/model/configuration"
	"tagnet/pipelines/internal/report/chart"
	"tagnet/stages/messages"
)

// messagesPart returns the section on the messages that propagation sends and that truncation saves.
func (e *evidence) messagesPart() section {
	s := section{ID: messagesSection, Title: "Messages", Gaps: e.gaps[messagesSection]}
	if len(e.messages) == 0 {
		return s
	}
	m := e.messages[0]
	if len(m.Configurations) == 0 {
		return s
	}
	c := e.chosen(m)
	s.Lead = []string{fmt.Sprintf("Without truncation each of %s of the %s split sends a message along each of %s in each layer. With %s and delta %d it sends %s fewer, or %s fewer if messages from entities that are not yet reached are not sent either%s.",
		plural(m.Queries, "query", "queries"), m.Split, plural(m.Edges, "edge", "edges"), plural(int64(c.Layers), "layer", "layers"), c.Delta, percent(c.Decrease), percent(c.DecreaseWithoutEmpty), e.harmless())}
	s.Figures = append(s.Figures, savedFigure(e.messages, c.Layers), partsFigure(m, c.Layers))
	if f := layersFigure(m, c); f.SVG != "" {
		s.Figures = append(s.Figures, f)
	}
	s.Figures = append(s.Figures, prunedFigure(e.messages, c.Layers))
	s.Tables = append(s.Tables, messageTable(e.messages))
	if m.AStar != nil {
		s.Tables = append(s.Tables, choicesTable(m))
	}
	return s
}

// harmless returns a remark that leaving out empty messages changes no score, except for TransE,
// whose empty messages are not 0.
func (e *evidence) harmless() string {
	if e.checkpoint != nil && e.checkpoint.Configuration.Message == configuration.MessageTransE {
		return ""
	}
	return ", which changes no score"
}

// chosen returns the configuration of the best checkpoint, or the default one, if it was counted, else
// the one with the most layers and, of those, the middle delta.
func (e *evidence) chosen(m messages.Summary) messages.Configuration {
	wanted := configuration.Default()
	if e.checkpoint != nil {
		wanted = e.checkpoint.Configuration
	}
	for _, c := range m.Configurations {
		if c.Layers == wanted.Layers && c.Delta == wanted.Delta {
			return c
		}
	}
	deepest := ofLayers(m, m.Configurations[len(m.Configurations)-1].Layers)
	return deepest[len(deepest)/2]
}

// ofLayers returns the configurations with the given number of layers, by delta.
func ofLayers(m messages.Summary, layers int) []messages.Configuration {
	var list []messages.Configuration
	for _, c := range m.Configurations {
		if c.Layers == layers {
			list = append(list, c)
		}
	}
	return list
}

// savedFigure draws the share of messages saved by delta, of one split or several.
func savedFigure(splits []messages.Summary, layers int) figure {
	c := chart.Lines{
		Title: "Messages saved by delta", Description: "Share of messages that are not sent.",
		X: chart.Axis{Label: "delta", Whole: true}, Y: chart.Axis{Label: "messages saved", Format: wholePercent, Zero: true, Most: 1},
	}
	caption := fmt.Sprintf("Of those that %d layers send without truncation.", layers)
	if len(splits) > 1 {
		caption = fmt.Sprintf("Of those that %d layers send without truncation, by the window; dotted: and without empty messages. %s", layers, inside)
	}
	for i, m := range splits {
		window, empty := chart.Series{Name: "by the window"}, chart.Series{Name: "and without empty messages"}
		if colour := splitColour(m.Split); len(splits) > 1 {
			window = chart.Series{Name: m.Split, Colour: colour, Mark: mark(i, splits)}
			empty = chart.Series{Colour: colour, Dashed: true, Mark: window.Mark}
		}
		for _, one := range ofLayers(m, layers) {
			window.Points = append(window.Points, chart.Point{X: float64(one.Delta), Y: one.Decrease})
			empty.Points = append(empty.Points, chart.Point{X: float64(one.Delta), Y: one.DecreaseWithoutEmpty})
		}
		if len(window.Points) > 0 {
			c.Series = append(c.Series, window, empty)
		}
	}
	return newFigure("messages-saved", "Messages saved by delta", caption, c.SVG())
}

// inside is the caption's explanation of mark.
const inside = "Where splits agree, their points are concentric."

// mark returns the radius of the points of the i-th split: larger for those drawn first, so that
// all are visible where lines coincide.
func mark(i int, splits []messages.Summary) float64 {
	return 2.8 + 1.8*float64(len(splits)-1-i)
}

// prunedFigure draws the share of the pruned messages that are empty, by delta.
func prunedFigure(splits []messages.Summary, layers int) figure {
	c := chart.Lines{
		Title: "Pruned messages", Description: "Share of the pruned messages that are empty.",
		X: chart.Axis{Label: "delta", Whole: true}, Y: chart.Axis{Label: "empty, of the pruned", Format: wholePercent, Zero: true, Most: 1},
	}
	for i, m := range splits {
		series := chart.Series{Name: m.Split, Colour: splitColour(m.Split), Mark: mark(i, splits)}
		for _, one := range ofLayers(m, layers) {
			series.Points = append(series.Points, chart.Point{X: float64(one.Delta), Y: emptyShare(one)})
		}
		if len(series.Points) > 0 {
			c.Series = append(c.Series, series)
		}
	}
	return newFigure("messages-pruned", "Pruned messages", fmt.Sprintf("With %s. Those that are not empty are redundant. Sparse graphs with long paths prune more empty messages, dense ones more redundant ones.",
		plural(int64(layers), "layer", "layers")), c.SVG())
}

// emptyShare returns the share of a configuration's pruned messages that are empty; NaN if it prunes
// none.
func emptyShare(c messages.Configuration) float64 {
	return float64(c.PrunedEmpty) / float64(c.PrunedEmpty+c.PrunedRedundant)
}

// partNames and partColours are the outcomes for a message and their colours.
var (
	partNames   = []string{"sent", "kept, but empty", "pruned: redundant", "pruned: empty"}
	partColours = []int{1, 2, 5, 6}
)

// parts returns the segments of a bar, in the order of partNames.
func parts(kept, keptEmpty, prunedEmpty, prunedRedundant int64) []chart.Part {
	segments := make([]chart.Part, len(partNames))
	for i, n := range []int64{kept - keptEmpty, keptEmpty, prunedRedundant, prunedEmpty} {
		segments[i] = chart.Part{Value: float64(n), Note: "(" + count(n) + ")"}
	}
	return segments
}

// partsFigure draws the outcomes for messages, by delta.
func partsFigure(m messages.Summary, layers int) figure {
	c := chart.Stacked{Title: "Outcome of messages by delta", Description: "Shares of the messages of untruncated propagation.", Label: "delta",
		Whole: "messages without truncation", Parts: partNames, Colours: partColours}
	for _, one := range ofLayers(m, layers) {
		c.Rows = append(c.Rows, chart.Stack{Name: strconv.Itoa(one.Delta), Parts: parts(one.Kept, one.KeptEmpty, one.PrunedEmpty, one.PrunedRedundant)})
	}
	return newFigure("messages-parts", "Messages by delta", "Of the "+m.Split+" split. An empty message comes from an entity that is not yet reached; a redundant one would arrive after its receiver's window.", c.SVG())
}

// layersFigure draws the outcomes for messages in each layer of a configuration. It returns a figure
// without SVG if they were not counted.
func layersFigure(m messages.Summary, of messages.Configuration) figure {
	c := chart.Stacked{Title: "Outcome of messages by layer", Description: "Shares of the messages of untruncated propagation in each layer.", Label: "layer",
		Whole: "messages of the layer without truncation", Parts: partNames, Colours: partColours}
	for _, one := range m.ByLayer {
		if one.Layers == of.Layers && one.Delta == of.Delta {
			c.Rows = append(c.Rows, chart.Stack{Name: strconv.Itoa(one.Layer), Parts: parts(one.Kept, one.KeptEmpty, one.PrunedEmpty, one.PrunedRedundant)})
		}
	}
	if len(c.Rows) == 0 {
		return figure{}
	}
	return newFigure("messages-layers", "Messages by layer", fmt.Sprintf("Of the %s split, with %s and delta %d. In early layers most messages would be empty; in late ones the windows of near entities have ended.",
		m.Split, plural(int64(of.Layers), "layer", "layers"), of.Delta), c.SVG())
}

// messageTable returns a table with a row for each split, number of layers and delta.
func messageTable(splits []messages.Summary) table {
	t := table{Title: "Messages per query", Note: "Means over the queries of the " + splits[0].Split + " split. Kept includes empty messages, as in the paper; sent excludes them. Pruned messages are empty or redundant.", Head: []cell{
		text("Layers"), number("Delta"), number("Untruncated"), number("Kept"), number("Sent"), number("Saved"), number("Saved without empty"), number("Pruned: empty"), number("redundant")}}
	if len(splits) > 1 {
		t.Note = strings.Replace(t.Note, "the "+splits[0].Split+" split", "each split", 1)
		t.Head = append([]cell{text("Split")}, t.Head...)
	}
	for _, m := range splits {
		n := float64(max(1, m.Queries))
		for _, c := range m.Configurations {
			row := []cell{text(strconv.Itoa(c.Layers)), number(strconv.Itoa(c.Delta)), number(short(float64(c.NBFNet) / n)), number(short(float64(c.Kept) / n)),
				number(short(float64(c.Kept-c.KeptEmpty) / n)), bar(percent(c.Decrease), c.Decrease), bar(percent(c.DecreaseWithoutEmpty), c.DecreaseWithoutEmpty)}
			row = append(row, number(percent(emptyShare(c))), number(percent(1-emptyShare(c))))
			if len(splits) > 1 {
				row[0] = number(row[0].Text)
				row = append([]cell{text(m.Split)}, row...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(splits) > 1 {
		t.Head[1] = number(t.Head[1].Text)
	}
	return t
}

// choicesTable returns a table of the messages that an A*Net model chose and that the window kept.
func choicesTable(m messages.Summary) table {
	c := m.AStar
	t := table{Title: "Messages chosen by A*Net", Note: fmt.Sprintf("Messages per query with %s and policy %s. A*Net chooses which entities send along which edges; a window prunes some of these messages.", c.Checkpoint, c.Policy),
		Head: []cell{text("Layer"), number("Untruncated"), number("Chosen"), number("Sent"), number("Saved of the chosen")}}
	n := float64(max(1, m.Queries))
	row := func(name string, all, chosen, sent int64) []cell {
		saved := 1 - float64(sent)/float64(max(1, chosen))
		return []cell{text(name), number(short(float64(all) / n)), number(short(float64(chosen) / n)), number(short(float64(sent) / n)), bar(percent(saved), saved)}
	}
	for _, layer := range c.ByLayer {
		t.Rows = append(t.Rows, row(strconv.Itoa(layer.Layer), c.NBFNet/int64(max(1, len(c.ByLayer))), layer.AStar, layer.Kept))
	}
	t.Rows = append(t.Rows, row("all", c.NBFNet, c.AStar, c.Kept))
	return t
}

// saved returns the share of messages that the model of the page does not send and the setting that
// saves them, or false if nothing was counted for that model.
func (e *evidence) saved() (share float64, by string, ok bool) {
	if len(e.messages) == 0 {
		return 0, "", false
	}
	m := e.messages[0]
	switch {
	case m.AStar != nil:
		return m.AStar.Decrease, fmt.Sprintf("%d layers, policy %s", m.AStar.Layers, m.AStar.Policy), true
	case len(m.Configurations) == 0, e.checkpoint != nil && e.checkpoint.Configuration.Policy != configuration.PolicyWindow:
		return 0, "", false
	}
	c := e.chosen(m)
	return c.DecreaseWithoutEmpty, fmt.Sprintf("%d layers, delta %d", c.Layers, c.Delta), true
}
