package report

import (
	"fmt"
	"math"

	"tagnet/model/weights/configuration"
)

func (e *evidence) compose() page {
	title := "Trained model"
	switch unmeasured := e.checkpoint == nil && len(e.epochs) == 0 && len(e.evaluations) == 0; {
	case e.givenModel() != nil:
		title = "Pretrained model"
	case unmeasured && e.list.name != "":
		title = "New facts"
	case unmeasured:
		title = "Dataset"
	}
	switch {
	case e.graph == nil || e.graph.Dataset == "":
	case e.graph.Dataset == "sample":
		title += ": the sample"
	default:
		title += ": " + e.graph.Dataset
	}
	p := page{Title: title, Subtitle: e.subtitle(), Findings: e.findings(), Tiles: e.tiles()}
	for _, s := range []section{e.composeRuns(), e.composeList(), e.composeData(), e.composeRules(), e.composeTraining(), e.composeEvaluation(),
		e.composeMessages(), e.composeConfiguration()} {
		s.Gaps = e.gaps[s.ID]
		if s.Title != "" {
			p.Sections = append(p.Sections, s)
		}
	}
	return p
}

// subtitle returns the page's summary in a sentence.
func (e *evidence) subtitle() string {
	if len(e.evaluations) == 0 {
		return "No split has been scored yet; each section names the next command."
	}
	v := e.evaluations[0]
	return fmt.Sprintf("The right answer ranks first for %s of %s.", percent(v.Pessimistic.Hits1), plural(v.Queries, "query", "queries"))
}

// tiles returns the numbers at the top.
func (e *evidence) tiles() []tile {
	var tiles []tile
	if len(e.evaluations) > 0 {
		v := e.evaluations[0]
		m := v.Pessimistic
		note := v.Split
		if g := e.graph; g != nil && g.InferenceGraph != nil && (v.Split == "test" || v.Split == "valid" && g.ValidOnInference) {
			note += " on the inference graph"
		}
		note += ", filtered, pessimistic"
		if v.Sample != nil {
			note += ", of a sample"
		}
		if v.ranks != nil {
			if i, ok := v.ranks.whole.MRR(); ok {
				note += "; 95% interval " + interval(i, ok)
			}
		}
		tiles = append(tiles, tile{metric(m.MRR), "MRR", note}, tile{percent(m.Hits1), "Hits@1", "right answer first"},
			tile{percent(m.Hits10), "Hits@10", "among the first ten"})
	}
	if saved, ok := e.saved(); ok {
		tiles = append(tiles, tile{percent(saved.all), "Messages saved", "of all; " + saved.by})
		if !math.IsNaN(saved.notEmpty) {
			tiles = append(tiles, tile{percent(saved.notEmpty), "Messages saved", "of those not empty; " + saved.by})
		}
	}
	if l := e.list; l.name != "" {
		tiles = append(tiles, tile{count(l.summary.Listed), "New facts", fmt.Sprintf("listed; %.0f with p ≥ 0.5", l.relations[""][2])})
	}
	if g := e.graph; g != nil {
		prefix, inference := "", g.InferenceGraph
		if inference != nil {
			prefix = "training graph, "
		}
		tiles = append(tiles, tile{count(g.Entities), "Entities", prefix + plural(g.Relations, "relation", "relations")},
			tile{count(g.Facts), "Facts", fmt.Sprintf("%s%.1f per entity", prefix, g.MeanDegree)})
		if inference != nil {
			tiles = append(tiles, tile{count(inference.Entities), "Entities", "inference graph, which test asks about"},
				tile{count(inference.Facts), "Facts", fmt.Sprintf("inference graph, %.1f per entity", inference.MeanDegree)})
		}
	}
	return tiles
}

// composeConfiguration returns the section on the configuration of the best checkpoint.
func (e *evidence) composeConfiguration() section {
	s := section{ID: configurationSection, Title: "Configuration"}
	if e.checkpoint == nil {
		return s
	}
	s.Lead = []string{fmt.Sprintf("The best checkpoint is %s, after %s of the optimizer; seed %d. The same configuration, data and seed reproduce the "+
		"checkpoint byte for byte.",
		e.best, plural(e.checkpoint.Step, "step", "steps"), e.checkpoint.Seed)}
	if from := e.checkpoint.Origin; from != nil {
		s.Lead = append(s.Lead, "The training began with the weights of "+from.File+", which decide the architecture.")
	}
	t := table{Head: []string{"Flag", "Value"}, Words: true}
	for _, s := range settingsOf(e.checkpoint.Configuration) {
		if s.value != "" {
			t.add(s.name, s.value)
		}
	}
	s.Tables = []table{t}
	return s
}

// setting is a hyperparameter, or the seed, with its value.
type setting struct{ name, value string }

// settingsOf returns the hyperparameters of a configuration, in the order of a command's help.
func settingsOf(c configuration.Configuration) (all []setting) {
	for _, field := range configuration.Fields() {
		all = append(all, setting{field.Name, fmt.Sprint(field.Of(c))})
	}
	return all
}
