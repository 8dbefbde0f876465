package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"tagnet/formats/workspace/counts"
	"tagnet/model/study/chart"
	"tagnet/model/weights/configuration"
)

// composeMessages returns the section on the messages that propagation sends and that truncation saves.
func (e *evidence) composeMessages() section {
	s := section{ID: messagesSection, Title: "Messages"}
	if len(e.messages) == 0 || len(e.messages[0].Configurations) == 0 {
		return s
	}
	// The text is about the model's own layers and delta.
	m := e.messages[0]
	c := e.chosen(m)
	ofAll, ofNotEmpty := c.Saved()
	s.Lead = []string{
		fmt.Sprintf("With %s and delta %d, propagation sends %s messages for %s of the %s split. That is %s fewer than one message along each of %s in "+
			"each layer, and %s fewer than those of them that are not empty%s.",
			plural(int64(c.Layers), "layer", "layers"), c.Delta, count(c.Sent()), plural(m.Queries, "query", "queries"), m.Split, percent(ofAll),
			plural(m.Edges, "edge", "edges"), percent(ofNotEmpty), e.harmless()),
		fmt.Sprintf("The paper counts %s fewer: it compares all messages that the window admits, empty ones included, with one along each edge in each layer.",
			percent(c.Decrease)),
	}
	if m.Reach > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("A query propagates through at most %s (--reach): edges with an end at another one count as empty.",
			plural(int64(m.Reach), "entity", "entities")))
	}
	if e.windowless() {
		s.Lead = append([]string{"These are the messages of a model with windows, counted without one. The model of this run has none: it updates every " +
			"entity in every layer."}, s.Lead...)
	}
	splits := slices.DeleteFunc(slices.Clone(e.messages), func(m counts.Summary) bool { return len(ofLayers(m, c.Layers)) == 0 })
	s.Figures = []figure{savedFigure(splits, c.Layers), deltaFigure(m, c.Layers)}
	byLayer := slices.DeleteFunc(slices.Clone(m.ByLayer), func(one counts.LayerSum) bool { return one.Layers != c.Layers || one.Delta != c.Delta })
	if len(byLayer) > 0 {
		s.Figures = append(s.Figures, layersFigure(m.Split, c, byLayer))
	}
	s.Figures = append(s.Figures, prunedFigure(splits, c.Layers))
	s.Tables = append(s.Tables, messageTable(e.messages))
	if m.AStar != nil {
		s.Tables = append(s.Tables, choicesTable(m))
	}
	return s
}

// harmless returns what empty messages are, and that leaving them out changes no score, except for TransE, whose empty
// messages are not 0.
func (e *evidence) harmless() string {
	if e.checkpoint != nil && e.checkpoint.Configuration.Message == configuration.MessageTransE {
		return ": those from entities that are not yet reached"
	}
	return ": those from entities that are not yet reached, which change no score"
}

// chosen returns the configuration of the best checkpoint, or the default one, if it was counted, else
// the one with the most layers and, of those, the middle delta.
func (e *evidence) chosen(m counts.Summary) counts.Configuration {
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
func ofLayers(m counts.Summary, layers int) []counts.Configuration {
	return slices.DeleteFunc(slices.Clone(m.Configurations), func(c counts.Configuration) bool { return c.Layers != layers })
}

// byDelta returns a chart of shares by delta, without lines.
func byDelta(label string) chart.Lines {
	return chart.Lines{X: chart.Axis{Label: "delta", Whole: true}, Y: chart.Axis{Label: label, Format: wholePercent, Zero: true, Most: 1}}
}

// points returns a share of each configuration by its delta.
func points(configurations []counts.Configuration, share func(counts.Configuration) float64) (all []chart.Point) {
	for _, c := range configurations {
		all = append(all, chart.Point{X: float64(c.Delta), Y: share(c)})
	}
	return all
}

// mark returns the radius of the points of the i-th split: larger for those drawn first, so that
// all are visible where lines coincide.
func mark(i int, splits []counts.Summary) float64 {
	return 2.8 + 1.8*float64(len(splits)-1-i)
}

// savedFigure draws the share of messages saved by delta, of all and of those not empty, of one split or several.
func savedFigure(splits []counts.Summary, layers int) figure {
	c := byDelta("messages saved")
	caption := fmt.Sprintf("By %d layers with truncation: of one message along each edge in each layer, and of those that are not empty.", layers)
	if len(splits) > 1 {
		caption = fmt.Sprintf("By %d layers with truncation: of one message along each edge in each layer; dotted: of those that are not empty. Where "+
			"splits agree, their points are concentric.", layers)
	}
	for i, m := range splits {
		all := chart.Series{Key: chart.Key{Name: "of all"}}
		notEmpty := chart.Series{Key: chart.Key{Name: "of those not empty", Color: 1}}
		if color := splitColor(m.Split); len(splits) > 1 {
			all = chart.Series{Key: chart.Key{Name: m.Split, Color: color}, Mark: mark(i, splits)}
			notEmpty = chart.Series{Key: chart.Key{Color: color}, Mark: all.Mark, Dashed: true}
		}
		counted := ofLayers(m, layers)
		all.Points = points(counted, func(c counts.Configuration) float64 { share, _ := c.Saved(); return share })
		notEmpty.Points = points(counted, func(c counts.Configuration) float64 { _, share := c.Saved(); return share })
		c.Series = append(c.Series, all, notEmpty)
	}
	return newFigure("messages-saved", "Messages saved by delta", caption, c)
}

// prunedFigure draws the share of the pruned messages that are empty, by delta.
func prunedFigure(splits []counts.Summary, layers int) figure {
	c := byDelta("empty, of the pruned")
	for i, m := range splits {
		c.Series = append(c.Series, chart.Series{Key: chart.Key{Name: m.Split, Color: splitColor(m.Split)}, Mark: mark(i, splits),
			Points: points(ofLayers(m, layers), counts.Configuration.PrunedEmptyShare)})
	}
	return newFigure("messages-pruned", "Pruned messages",
		fmt.Sprintf("With %s. Those that are not empty are redundant. Sparse graphs with long paths prune more empty messages, dense ones more redundant ones.",
			plural(int64(layers), "layer", "layers")), c)
}

// outcomes returns a chart of the outcomes for messages, without rows.
func outcomes(label, axis string) chart.Bars {
	return chart.Bars{Stacked: true, Label: label, X: chart.Axis{Label: axis, Format: wholePercent, Most: 1},
		Format: func(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) },
		Series: []chart.Key{{Name: "sent", Color: 0}, {Name: "kept, but empty", Color: 1}, {Name: "pruned: redundant", Color: 4},
			{Name: "pruned: empty", Color: 5}}}
}

// outcome returns a row of a chart of outcomes.
func outcome(name int, t counts.Totals) chart.Row {
	row := chart.Row{Name: strconv.Itoa(name)}
	for _, n := range []int64{t.Sent(), t.KeptEmpty, t.PrunedRedundant, t.PrunedEmpty} {
		share := float64(n) / float64(max(1, t.NBFNet))
		row.Bars = append(row.Bars, chart.Bar{Value: share, Note: "(" + count(n) + ")"})
	}
	return row
}

// deltaFigure draws the outcomes for messages, by delta.
func deltaFigure(m counts.Summary, layers int) figure {
	c := outcomes("delta", "messages without truncation")
	for _, one := range ofLayers(m, layers) {
		c.Rows = append(c.Rows, outcome(one.Delta, one.Totals))
	}
	return newFigure("messages-parts", "Messages by delta",
		"Of the "+m.Split+" split. An empty message comes from an entity that is not yet reached; a redundant one would arrive after its receiver's window.", c)
}

// layersFigure draws the outcomes for messages in each layer of a configuration.
func layersFigure(split string, counted counts.Configuration, byLayer []counts.LayerSum) figure {
	c := outcomes("layer", "messages of the layer without truncation")
	for _, one := range byLayer {
		c.Rows = append(c.Rows, outcome(one.Layer, one.Totals))
	}
	return newFigure("messages-layers", "Messages by layer",
		fmt.Sprintf("Of the %s split, with %s and delta %d. In early layers most messages would be empty; in late ones the windows "+
			"of near entities have ended.",
			split, plural(int64(counted.Layers), "layer", "layers"), counted.Delta), c)
}

// messageTable returns a table with a row for each split, number of layers and delta.
func messageTable(splits []counts.Summary) table {
	t := table{Title: "Messages per query", Head: []string{"Split", "Layers", "Delta", "Sent", "Of all", "Saved", "Of not empty", "Saved", "Kept", "Saved"},
		Note: "Means over the queries of each split. All: one message along each edge in each layer. Kept includes empty messages; " +
			"the paper compares it with all."}
	for _, m := range splits {
		n := float64(max(1, m.Queries))
		for _, c := range m.Configurations {
			ofAll, ofNotEmpty := c.Saved()
			row := t.add(m.Split, strconv.Itoa(c.Layers), strconv.Itoa(c.Delta), short(float64(c.Sent())/n), short(float64(c.NBFNet)/n), percent(ofAll),
				short(float64(c.NotEmpty())/n), percent(ofNotEmpty), short(float64(c.Kept)/n), percent(c.Decrease))
			row[5].Bar, row[7].Bar = bar(ofAll), bar(ofNotEmpty)
		}
	}
	return t
}

// choicesTable returns a table of the messages that an A*Net model chose and that the window kept.
func choicesTable(m counts.Summary) table {
	c := m.AStar
	t := table{Title: "Messages chosen by A*Net", Head: []string{"Layer", "Untruncated", "Chosen", "Sent", "Saved of the chosen"},
		Note: fmt.Sprintf("Messages per query with %s and policy %s. A*Net chooses which entities send along which edges; a window "+
			"prunes some of these messages.", c.Checkpoint, c.Policy)}
	n := float64(max(1, m.Queries))
	add := func(name string, all, chosen, sent int64) {
		saved := 1 - float64(sent)/float64(max(1, chosen))
		row := t.add(name, short(float64(all)/n), short(float64(chosen)/n), short(float64(sent)/n), percent(saved))
		row[4].Bar = bar(saved)
	}
	for _, layer := range c.ByLayer {
		add(strconv.Itoa(layer.Layer), c.NBFNet/int64(max(1, len(c.ByLayer))), layer.AStar, layer.Kept)
	}
	add("all", c.NBFNet, c.AStar, c.Kept)
	return t
}

// saving is the shares of messages that the model of the page does not send, and the setting that saves them.
type saving struct {
	all float64
	// notEmpty is of the messages that are not empty, NaN where these were not counted.
	notEmpty float64
	by       string
}

// saved returns the saving of the page's model, or false if nothing was counted for it.
func (e *evidence) saved() (saving, bool) {
	if len(e.messages) == 0 {
		return saving{}, false
	}
	m := e.messages[0]
	switch {
	case m.AStar != nil:
		return saving{m.AStar.Decrease, math.NaN(), fmt.Sprintf("%d layers, policy %s", m.AStar.Layers, m.AStar.Policy)}, true
	case len(m.Configurations) == 0, e.checkpoint != nil && e.checkpoint.Configuration.Policy != configuration.PolicyWindow, e.windowless():
		return saving{}, false
	}
	c := e.chosen(m)
	ofAll, ofNotEmpty := c.Saved()
	return saving{ofAll, ofNotEmpty, fmt.Sprintf("%d layers, delta %d", c.Layers, c.Delta)}, true
}
