package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tagnet/formats/names"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer"
	"tagnet/model/answer/rules"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/predict/discover"
)

// listShown is how many facts of the list the page shows.
const listShown = 50

// newFacts is the run's newest list, with the verdicts on facts.
type newFacts struct {
	name    string // "" without a list
	summary metrics.Discovery
	first   []parquet.Fact
	// relations sums the facts of each relation, and of all for "": their number, how many have a probability of .9 and
	// more and of .5 and more, and their probabilities.
	relations map[string][4]float64
	judged    verdicts.Judged
	told      answer.Told
}

// readList reads the newest list, the verdicts, and what they tell of the list's probabilities.
func (e *evidence) readList(ctx context.Context) {
	w, l := e.workspace, &e.list
	var err error
	if l.judged, err = verdicts.Read(ctx, w.Path(verdicts.File)); err != nil {
		e.unreadable(listSection, "The verdicts", w.Command("review"), err)
	}
	name, err := w.NewestList(ctx)
	folder, command := w.FactsFolder(name), w.Command("discover")
	if err == nil && name != "" {
		if l.summary, err = read[metrics.Discovery](ctx, e, folder, metrics.DiscoveryFile, command); err == nil {
			err = parquet.EachPart(ctx, w.Path(folder, discover.Table), l.add)
		}
	}
	if err != nil {
		e.unreadable(listSection, "The list of new facts", command, err)
		return
	}
	l.name = name
	of, _ := w.EvaluatedCheckpoint(ctx, w.Path(folder))
	graph, _ := w.Checksum(ctx, workspace.GraphFolder) // what cannot be read tells nothing
	l.told = answer.ReadTold(ctx, w.Path(answer.ProbabilitiesFolder), of.Weights, graph, of.Reach, l.judged.SHA256)
}

func (l *newFacts) add(rows []parquet.Fact) error {
	if l.relations == nil {
		l.relations = map[string][4]float64{}
	}
	for _, f := range rows {
		if f.Position <= listShown {
			l.first = append(l.first, f)
		}
		p := 0.
		if f.Probability != nil {
			p = *f.Probability
		}
		for _, key := range []string{"", f.Relation} {
			sums := l.relations[key]
			for i, least := range []float64{0, .9, .5} {
				if p >= least {
					sums[i]++
				}
			}
			sums[3] += p
			l.relations[key] = sums
		}
	}
	return nil
}

// composeList returns the section on the facts that are new, and those that people judged.
func (e *evidence) composeList() section {
	s, l := section{ID: listSection, Title: "New facts"}, e.list
	if l.name == "" && len(l.judged.Of)+len(e.gaps[listSection]) == 0 {
		return section{}
	}
	if l.name != "" {
		s.Lead = []string{l.describe()}
		s.Tables = []table{l.byRelation(), l.firstFacts()}
	}
	if len(l.judged.Of) > 0 {
		s.Lead = append(s.Lead, l.verdicts())
	}
	if len(e.rules.Relations) > 0 {
		s.Lead = append(s.Lead, l.told.Lines(e.rules.Relations)...)
	}
	return s
}

// describe says what the list has, and what its probabilities presume.
func (l newFacts) describe() string {
	text := fmt.Sprintf("The list %s has the best %s of %s.", shown(l.name), count(l.summary.Listed), plural(l.summary.Candidates, "candidate", "candidates"))
	p := l.summary.Probabilities
	if p == nil {
		return text + " They have no probabilities, and are in the order of the lower one of their two scores."
	}
	by, own := "which no data tell (--missing of discover)", []string{}
	if p.Told {
		by = "as verdicts tell"
	}
	for _, r := range slices.Sorted(maps.Keys(p.Shares)) {
		own = append(own, shown(r)+" "+percent(p.Shares[r]))
	}
	if len(own) > 0 {
		by += "; of single relations " + enumerate(own)
	}
	return text + fmt.Sprintf(" By their probabilities %.0f are true, if %s of the graph's facts are missing, %s.", l.relations[""][3], percent(p.Missing), by)
}

// verdicts says how many facts are judged, and by whom.
func (l newFacts) verdicts() string {
	judged, by := map[verdicts.Judgment]int64{}, map[string]int64{}
	for _, v := range l.judged.Of {
		judged[v.Judgment]++
		by[cmp.Or(v.Who, "somebody without a name")]++
	}
	var who []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		who = append(who, fmt.Sprintf("%s by %s", count(by[name]), shown(name)))
	}
	return fmt.Sprintf("Judged facts: %s true and %s false, %s.", count(judged[verdicts.True]), count(judged[verdicts.False]), enumerate(who))
}

// byRelation returns a row for all relations of the list and for each, that with the most facts that are true first.
func (l newFacts) byRelation() table {
	t := table{Title: "By relation", Head: []string{"Relation", "Facts", "p ≥ 0.9", "p ≥ 0.5", "True, as p says"}, Folded: len(l.relations) > listShown/2}
	for _, r := range slices.SortedFunc(maps.Keys(l.relations), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.relations[b][3], l.relations[a][3]), cmp.Compare(a, b))
	}) {
		row := []string{cmp.Or(r, "all")}
		for _, sum := range l.relations[r] {
			row = append(row, count(int64(sum+.5)))
		}
		t.add(row...)
	}
	return t
}

func (l newFacts) firstFacts() table {
	t := table{Title: "The first facts of the list", Head: []string{"Head", "Relation", "Tail", "p", "Verdict"}, Words: true}
	for _, f := range l.first {
		p := "–"
		if f.Probability != nil {
			p = metric(*f.Probability)
		}
		said := l.judged.Of[verdicts.Fact{Head: f.Head, Relation: f.Relation, Tail: f.Tail}]
		t.add(f.Head, names.Escape(shown(f.Relation)), names.Escape(shown(f.Tail)), p, string(said.Judgment))
	}
	return t
}

// missingMirrors names relations nearly all of whose facts have a mirror in the graph, and how many have none.
func (e *evidence) missingMirrors() string {
	var lacking []string
	for _, x := range e.rules.Findings {
		if x.Kind == rules.MissingMirror && len(lacking) < worstShown {
			of := e.rules.Name(x.Body[0] - int32(len(e.rules.Relations)))
			lacking = append(lacking, fmt.Sprintf("%s of %s (%s of its %s facts have one)", plural(int64(x.Missing), "mirror", "mirrors"), shown(of),
				count(int64(x.Support)), count(int64(x.Cases))))
		}
	}
	if len(lacking) == 0 {
		return ""
	}
	return "The graph lacks " + enumerate(lacking) + "."
}
