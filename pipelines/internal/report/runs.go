package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/workspace"
)

// readRuns reads what the page compares of all runs, if there are several.
func (e *evidence) readRuns(ctx context.Context) {
	names, err := e.workspace.Runs(ctx)
	e.check(err)
	if len(names) < 2 {
		return
	}
	for _, name := range byWeight(names, checkpoint.DefaultRun) {
		if name == e.workspace.Run() {
			e.runs = append(e.runs, e)
			continue
		}
		other := newEvidence(e.workspace.WithRun(name), e.seed)
		other.readTraining(ctx)
		other.readMetrics(ctx)
		if v := other.ofSplit(e.comparedSplit()); v != nil {
			v.ranks, err = other.readRanks(ctx, v.Split, nil)
			other.check(err)
		} else if e.comparedSplit() != "" {
			e.missing(runsSection, fmt.Sprintf("The run %s has no metrics of its best checkpoint on the %s split", name, e.comparedSplit()),
				other.workspace.Command("score", "--split", e.comparedSplit()), nil)
		}
		other.readMessages(ctx)
		e.failure = cmp.Or(e.failure, other.failure)
		e.runs = append(e.runs, other)
	}
}

// comparedSplit returns the split that runs are compared on: the one on which the page's run was evaluated.
func (e *evidence) comparedSplit() string {
	if len(e.evaluations) == 0 {
		return ""
	}
	return e.evaluations[0].Split
}

// ofSplit returns the evaluation of a split, nil if there is none.
func (e *evidence) ofSplit(split string) *evaluation {
	for i := range e.evaluations {
		if e.evaluations[i].Split == split {
			return &e.evaluations[i]
		}
	}
	return nil
}

// composeRuns returns the section that compares the runs, empty without several.
func (e *evidence) composeRuns() section {
	if len(e.runs) < 2 {
		return section{}
	}
	chosen, split := e.workspace.Run(), e.comparedSplit()
	s := section{ID: runsSection, Title: "Runs", Lead: []string{fmt.Sprintf("The workspace has %d runs, models of one graph. The rest of the page is about "+
		"%s; --run shows another.", len(e.runs), chosen)}}
	t := table{Described: true, Head: []string{"Run", "Configuration", "MRR", "95% interval", "Hits@1", "Hits@10", "MRR against " + chosen, "Messages saved",
		"of not empty"},
		Note: "Pessimistic metrics of the " + split +
			" split. Of the configuration, what differs between runs. A difference is that of the same queries, with its 95% interval."}
	if split == "" {
		t.Note = "Of the configuration, what differs between runs."
	}
	pageEvaluation := e.ofSplit(split)
	differing := differences(e.runs)
	var better, worse []string
	for i, r := range e.runs {
		v := r.ofSplit(split)
		notes := slices.DeleteFunc([]string{cmp.Or(differing[i], r.flags()), r.rescored(v)}, func(text string) bool { return text == "" })
		row := []string{r.workspace.Run(), cmp.Or(strings.Join(notes, ", "), "–"), "–", "–", "–", "–", "–", "–", "–"}
		if v != nil {
			m := v.Pessimistic
			row[2], row[4], row[5] = metric(m.MRR), metric(m.Hits1), metric(m.Hits10)
			if v.Sample != nil {
				row[2] += " of a sample"
			}
			if v.ranks != nil {
				row[3] = interval(v.ranks.whole.MRR())
			}
			if r != e && v.ranks != nil && pageEvaluation.ranks != nil && v.Queries == pageEvaluation.Queries {
				change := m.MRR - pageEvaluation.Pessimistic.MRR
				d, ok := v.ranks.whole.Difference(pageEvaluation.ranks.whole)
				row[6] = difference(change, d, ok)
				if ok && d.Excludes(0) && change > 0 {
					better = append(better, r.workspace.Run())
				} else if ok && d.Excludes(0) {
					worse = append(worse, r.workspace.Run())
				}
			}
		}
		if saved, ok := r.saved(); ok {
			row[7] = percent(saved.all)
			if !math.IsNaN(saved.notEmpty) {
				row[8] = percent(saved.notEmpty)
			}
		}
		t.add(row...)
	}
	// Only differences beyond chance are told in words.
	for _, compared := range []struct {
		names []string
		how   string
	}{{better, "higher"}, {worse, "lower"}} {
		if len(compared.names) > 0 {
			s.Lead = append(s.Lead, fmt.Sprintf("The MRR of %s is %s than that of %s by more than the choice of queries explains.", enumerate(compared.names),
				compared.how, chosen))
		}
	}
	s.Tables = []table{t}
	return s
}

// givenModel returns the model of an evaluation that is not a checkpoint of the run, or nil.
func (e *evidence) givenModel() *workspace.Evaluated {
	for _, v := range slices.Concat(e.evaluations, e.protocols) {
		if v.evaluated.GivenModel != nil {
			return &v.evaluated
		}
	}
	return nil
}

// flags returns the flags of score that name the model of a run that has no checkpoint, or "".
func (e *evidence) flags() string {
	evaluated := e.givenModel()
	if evaluated == nil {
		return ""
	}
	flags := evaluated.Model()
	if evaluated.Reach > 0 {
		flags += fmt.Sprintf(" --reach %d", evaluated.Reach)
	}
	return flags
}

// rescored says with which reach an evaluation scored, if that is not the one of the run's training, or returns "".
func (e *evidence) rescored(v *evaluation) string {
	if v == nil || v.evaluated.GivenModel != nil || e.checkpoint == nil || v.evaluated.Reach == e.checkpoint.Configuration.Reach {
		return ""
	}
	return fmt.Sprintf("scored with --reach %d", v.evaluated.Reach)
}

// differences returns for each run the fields of its configuration, and the seed, that are not the same in all runs.
func differences(runs []*evidence) []string {
	settings := make([][]setting, len(runs))
	values := map[string]map[string]bool{} // of each setting
	for i, r := range runs {
		if r.checkpoint == nil {
			continue
		}
		settings[i] = append(settingsOf(r.checkpoint.Configuration), setting{"seed", fmt.Sprint(r.checkpoint.Seed)})
		for _, s := range settings[i] {
			if values[s.name] == nil {
				values[s.name] = map[string]bool{}
			}
			values[s.name][s.value] = true
		}
	}
	texts := make([]string, len(runs))
	for i := range runs {
		var found []string
		for _, s := range settings[i] {
			if len(values[s.name]) > 1 {
				found = append(found, s.name+" "+cmp.Or(s.value, "none"))
			}
		}
		texts[i] = strings.Join(found, ", ")
	}
	return texts
}
