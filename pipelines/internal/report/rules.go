package report

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"

	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/probabilities"
)

// The most findings, and the most rules of a relation and of all, that the page shows.
const findingsShown, rulesOfRelation, rulesShown = 50, 3, 600

// findRules finds the rules of the graph of all facts, unless the graph has a gap already.
func (e *evidence) findRules(ctx context.Context, environment *command.Environment) error {
	if e.graph == nil {
		return nil
	}
	loaded, _, err := e.workspace.OpenGraph(ctx)
	if errors.Is(err, fs.ErrNotExist) { // results without their graph
		return nil
	}
	if err != nil {
		e.unreadable(rulesSection, "The rules of the graph", e.workspace.Command("preprocess"), err)
		return e.failure
	}
	view, err := loaded.On(ctx, kg.All)
	if err != nil {
		return err
	}
	mined, _, err := probabilities.Rules(ctx, environment, view.Graph, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	e.rules = probabilities.NewFound(loaded.Relations, mined, mined.Findings(view.Graph))
	return nil
}

// composeRules returns the section on what goes together in the graph, and on what it lacks by that.
func (e *evidence) composeRules() section {
	s := section{ID: rulesSection, Title: "Rules"}
	if len(e.rules.Rules)+len(e.rules.Findings) == 0 && len(e.gaps[rulesSection]) == 0 {
		return section{}
	}
	lacks := table{Title: "What the graph lacks by its rules", Head: []string{"Finding"}, Words: true}
	for _, x := range e.rules.Findings[:min(findingsShown, len(e.rules.Findings))] {
		lacks.add(e.rules.Sentence(x))
	}
	best := table{Title: "The best rules of each relation", Head: []string{"Relation", "Path from head to tail", "So in", "Of"}, Folded: true, Described: true,
		Note: "Of the pairs that such a path joins, and whose head has an answer, so many are facts. discover writes all rules to " + probabilities.RulesFile +
			"."}
	of := 0
	for i, r := range e.rules.Rules {
		if of++; i == 0 || e.rules.Rules[i-1].Relation != r.Relation {
			of = 1
		}
		if of <= rulesOfRelation && len(best.Rows) < rulesShown {
			best.add(e.rules.Name(r.Relation), e.rules.Name(r.Body...), count(int64(r.Support)), count(int64(r.Cases)))
		}
	}
	s.Tables = slices.DeleteFunc([]table{lacks, best}, func(t table) bool { return len(t.Rows) == 0 })
	return s
}
