package report

import (
	"fmt"
	"strconv"

	"tagnet/model/configuration"
	"tagnet/pipelines/internal/report/chart"
	"tagnet/stages/messages"
)

// messagesPart shows what propagation sends, and what truncation saves.
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
	s.Lead = []string{fmt.Sprintf("Without truncation each of %s of the %s split sends a message along each of %s in each layer. With %s and delta %d it sends %s fewer; and %s fewer when messages from entities that nothing has reached yet are not sent either%s.",
		plural(m.Queries, "question", "questions"), m.Split, plural(m.Edges, "edge", "edges"), plural(int64(c.Layers), "layer", "layers"), c.Delta, percent(c.Decrease), percent(c.DecreaseWithoutEmpty), e.harmless())}
	s.Figures = append(s.Figures, savedFigure(m, c.Layers), partsFigure(m, c.Layers))
	s.Tables = append(s.Tables, messageTable(m))
	if m.AStar != nil {
		s.Tables = append(s.Tables, choicesTable(m))
	}
	return s
}

// harmless says that empty messages need not be sent, where that is so: those of TransE are
// not 0.
func (e *evidence) harmless() string {
	if e.checkpoint != nil && e.checkpoint.Configuration.Message == configuration.MessageTransE {
		return ""
	}
	return ", which changes no score"
}

// chosen is the configuration of the best checkpoint, or the default one, if it was counted;
// else that with the most layers and, of those, a delta in the middle.
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

// ofLayers are the configurations of so many layers, by delta.
func ofLayers(m messages.Summary, layers int) []messages.Configuration {
	var list []messages.Configuration
	for _, c := range m.Configurations {
		if c.Layers == layers {
			list = append(list, c)
		}
	}
	return list
}

// savedFigure shows the share of messages saved by delta.
func savedFigure(m messages.Summary, layers int) figure {
	paper, ours := chart.Series{Name: "by the window"}, chart.Series{Name: "and by not sending what is empty"}
	for _, c := range ofLayers(m, layers) {
		paper.Points = append(paper.Points, chart.Point{X: float64(c.Delta), Y: c.Decrease})
		ours.Points = append(ours.Points, chart.Point{X: float64(c.Delta), Y: c.DecreaseWithoutEmpty})
	}
	return newFigure("messages-saved", "Messages saved by delta", fmt.Sprintf("Of those that %d layers send without truncation.", layers), chart.Lines{
		Title: "Messages saved by delta", Description: "Share of messages that are not sent.",
		X: chart.Axis{Label: "delta", Whole: true}, Y: chart.Axis{Format: wholePercent, Zero: true, Most: 1}, Series: []chart.Series{paper, ours},
	}.SVG())
}

// partsFigure shows what becomes of the messages, by delta.
func partsFigure(m messages.Summary, layers int) figure {
	c := chart.Stacked{Title: "What becomes of the messages", Description: "Shares of the messages of untruncated propagation.", Label: "delta",
		Parts: []string{"sent", "kept, but empty", "pruned: redundant", "pruned: empty"}, Colours: []int{1, 2, 5, 6}}
	for _, one := range ofLayers(m, layers) {
		note := func(n int64) string { return "(" + count(n) + ")" }
		c.Rows = append(c.Rows, chart.Stack{Name: strconv.Itoa(one.Delta), Parts: []chart.Part{
			{Value: float64(one.Kept - one.KeptEmpty), Note: note(one.Kept - one.KeptEmpty)},
			{Value: float64(one.KeptEmpty), Note: note(one.KeptEmpty)},
			{Value: float64(one.PrunedRedundant), Note: note(one.PrunedRedundant)},
			{Value: float64(one.PrunedEmpty), Note: note(one.PrunedEmpty)},
		}})
	}
	return newFigure("messages-parts", "What becomes of them", "An empty message comes from an entity that nothing has reached yet; a redundant one would arrive after the window has closed.", c.SVG())
}

// messageTable has a row for each number of layers and each delta.
func messageTable(m messages.Summary) table {
	t := table{Title: "Messages per question", Note: "Means over the questions of the " + m.Split + " split. Kept counts empty messages as the paper does; sent leaves them out.", Head: []cell{
		text("Layers"), number("Delta"), number("Untruncated"), number("Kept"), number("Sent"), number("Saved"), number("Saved without empty")}}
	n := float64(max(1, m.Queries))
	for _, c := range m.Configurations {
		t.Rows = append(t.Rows, []cell{text(strconv.Itoa(c.Layers)), number(strconv.Itoa(c.Delta)), number(short(float64(c.NBFNet) / n)), number(short(float64(c.Kept) / n)),
			number(short(float64(c.Kept-c.KeptEmpty) / n)), bar(percent(c.Decrease), c.Decrease), bar(percent(c.DecreaseWithoutEmpty), c.DecreaseWithoutEmpty)})
	}
	return t
}

// choicesTable shows what a model of A*Net chose, and what the window left of it.
func choicesTable(m messages.Summary) table {
	c := m.AStar
	t := table{Title: "What A*Net chose", Note: fmt.Sprintf("Messages per question with %s and policy %s. A*Net chooses which entities send along which edges; a window leaves out some of that.", c.Checkpoint, c.Policy),
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

// saved is the share of messages that the model of the page does not send, with a word on
// what saves them; false if nothing was counted for it.
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
