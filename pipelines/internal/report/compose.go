package report

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// compose lays out the page.
func (e *evidence) compose() page {
	title := "What the model learned"
	if e.checkpoint == nil && len(e.epochs) == 0 && len(e.evaluations) == 0 {
		title = "What the data say"
	}
	switch {
	case e.graph == nil || e.graph.Dataset == "":
	case e.graph.Dataset == "sample":
		title += " about the sample"
	default:
		title += " about " + e.graph.Dataset
	}
	p := page{Title: title, Subtitle: e.subtitle(), Tiles: e.tiles()}
	p.Sections = append(p.Sections, e.dataPart(), e.learningPart(), e.answersPart(), e.messagesPart())
	p.Sections = append(p.Sections, e.questionsPart()...)
	p.Sections = append(p.Sections, e.parametersPart())
	return p
}

// subtitle is the page in a sentence.
func (e *evidence) subtitle() string {
	if len(e.evaluations) == 0 {
		return "No questions were asked yet; each section says which command is next."
	}
	v := e.evaluations[0]
	sentence := fmt.Sprintf("It ranks the right answer first in %s of %s", percent(v.Pessimistic.Hits1), plural(v.Queries, "question", "questions"))
	if share, _, ok := e.saved(); ok {
		sentence += fmt.Sprintf(", with %s fewer messages than untruncated propagation would send", percent(share))
	}
	return sentence + "."
}

// tiles are the numbers at the top.
func (e *evidence) tiles() []tile {
	var tiles []tile
	if len(e.evaluations) > 0 {
		v := e.evaluations[0]
		m := v.Pessimistic
		note := v.Split + ", filtered, pessimistic"
		tiles = append(tiles, tile{metric(m.MRR), "MRR", note}, tile{percent(m.Hits1), "Hits@1", "right answer first"}, tile{percent(m.Hits10), "Hits@10", "among the first ten"})
	}
	if share, by, ok := e.saved(); ok {
		tiles = append(tiles, tile{percent(share), "Messages saved", by})
	}
	if g := e.graph; g != nil {
		tiles = append(tiles, tile{count(g.Entities), "Entities", plural(g.Relations, "relation", "relations")}, tile{count(g.Facts), "Facts", fmt.Sprintf("%.1f per entity", g.MeanDegree)})
	}
	return tiles
}

// parametersPart shows the configuration of the best checkpoint.
func (e *evidence) parametersPart() section {
	s := section{ID: parametersSection, Title: "Configuration", Gaps: e.gaps[parametersSection]}
	if e.checkpoint == nil {
		return s
	}
	s.Lead = []string{fmt.Sprintf("The best checkpoint is %s, after %s of the solver; seed %d. The same configuration, data and seed give the same checkpoint again, byte for byte.",
		e.best, plural(e.checkpoint.Step, "step", "steps"), e.checkpoint.Seed)}
	encoded, err := json.Marshal(e.checkpoint.Configuration)
	if err != nil {
		return s
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return s
	}
	t := table{Head: []cell{text("Flag"), text("Value")}}
	names := sortedKeys(fields)
	sort.SliceStable(names, func(i, j int) bool { return weight(names[i]) < weight(names[j]) })
	for _, name := range names {
		if value := strings.Trim(string(fields[name]), `"`); value != "" {
			t.Rows = append(t.Rows, []cell{text("--" + name), text(value)})
		}
	}
	s.Tables = []table{t}
	return s
}

// weight puts the fields that shape the model first.
func weight(field string) int {
	for i, name := range []string{"policy", "layers", "delta", "delta_mode", "dim", "aggregate", "message"} {
		if field == name {
			return i
		}
	}
	return 100
}
