package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tagnet/formats/metrics"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/discover"
	"tagnet/stages/evaluate"
	"tagnet/stages/explain"
)

// What the page shows of the user's own queries: so many folders of answers, --queries first and then by name, and of
// them all so many queries.
const ownFolders, ownShown = 5, 30

// queriesFolder is the folder of the answers to --queries, beside which those to --relation have names of their own.
const queriesFolder = "queries"

// ownAnswers is the first answers to queries of the user's, from a folder beside the evaluations of splits.
type ownAnswers struct {
	name      string
	model     workspace.Evaluated
	queries   int64
	cards     []card
	explained bool // with paths
	// summary and facts are those of a list of facts, triples those of given triples or pairs.
	summary *metrics.Discovery
	facts   []parquet.Fact
	triples []parquet.Triple
	kind    ownKind
}

// ownKind is what a folder has, by the name of its table.
type ownKind string

// The kinds of folders, in the order of the page within those that are not about a relation.
const (
	ownPredictions ownKind = evaluate.PredictionsTable
	ownFacts       ownKind = discover.Table
	ownTriples     ownKind = evaluate.TriplesTable
)

// pairs reports whether the folder has relations of pairs.
func (o ownAnswers) pairs() bool { return o.kind == ownTriples && o.model.TopK > 0 }

func explainedQuery(e parquet.Explanation) query { return query{e.Source, e.Relation, e.Direction} }

// ownTables returns the tables in each folder with answers to the user's own queries.
func (e *reader) ownTables(ctx context.Context) map[string]map[string]bool {
	evaluations := e.workspace.Path(e.workspace.InRun("evaluation"))
	urls, err := storage.List(ctx, evaluations)
	e.check(err)
	tables := map[string]map[string]bool{}
	for _, url := range urls {
		words := strings.Split(storage.Below(evaluations, url), "/")
		if len(words) > 2 && !slices.Contains(kg.Splits, words[0]) && !slices.Contains(metrics.Protocols, words[0]) {
			if tables[words[0]] == nil {
				tables[words[0]] = map[string]bool{}
			}
			tables[words[0]][words[1]] = true
		}
	}
	maps.DeleteFunc(tables, func(_ string, t map[string]bool) bool { return kindOf(t) == "" })
	return tables
}

// kindOf returns what a folder with some tables has, or "".
func kindOf(tables map[string]bool) ownKind {
	for _, kind := range []ownKind{ownPredictions, ownFacts, ownTriples} {
		if tables[string(kind)] {
			return kind
		}
	}
	return ""
}

// readOwnQueries reads the answers to the user's own queries, if there are any, and why they were given, if that was
// computed. Folders that cannot be used do not count among those that the page shows.
func (e *reader) readOwnQueries(ctx context.Context) {
	tables := e.ownTables(ctx)
	first := []string{queriesFolder}
	for _, kind := range []ownKind{ownFacts, ownTriples} {
		for _, name := range slices.Sorted(maps.Keys(tables)) {
			if kindOf(tables[name]) == kind {
				first = append(first, name)
			}
		}
	}
	names := byWeight(slices.Collect(maps.Keys(tables)), first...)
	var usable []ownAnswers
	for i, name := range names {
		if len(usable) == ownFolders {
			e.notShown = names[i:]
			break
		}
		own := ownAnswers{name: name, kind: kindOf(tables[name]), explained: tables[name][explain.Table]}
		var err error
		if own.model, err = e.checkOwn(ctx, own); err != nil {
			e.missingOwn(own, err)
			continue
		}
		usable = append(usable, own)
	}
	for _, own := range usable {
		var err error
		switch own.kind {
		case ownFacts:
			err = e.readFacts(ctx, &own)
		case ownTriples:
			err = e.readTriples(ctx, &own)
		default:
			err = e.readOwn(ctx, &own, ownShown/len(usable))
		}
		if err != nil {
			e.missingOwn(own, err)
			continue
		}
		e.own = append(e.own, own)
	}
}

// ownCommand returns the command line that writes a folder of answers to the user's own queries.
func (e *evidence) ownCommand(own ownAnswers) workspace.Command {
	switch {
	case own.name == queriesFolder:
		return e.workspace.Command("score", "--queries", "FILE")
	case own.kind == ownTriples:
		return e.workspace.Command("score", "--queries", "FILE", "--output", own.name)
	case own.kind == ownFacts:
		return e.workspace.Command("score", "--facts", "RELATIONS", "--output", own.name)
	}
	return e.workspace.Command("score", "--relation", "RELATION", "--output", own.name)
}

// missingOwn notes the gap of a folder of answers that cannot be used.
func (e *reader) missingOwn(own ownAnswers, err error) {
	what := "The answers to your own queries cannot be shown"
	if own.name != queriesFolder {
		what = "The answers in " + e.workspace.EvaluationFolder(own.name) + " cannot be shown"
	}
	e.missing(queriesSection, what, e.ownCommand(own), err)
}

// checkOwn returns the model of a folder of answers. It returns an error unless the folder is complete and its model is
// the best checkpoint, with the present calibration if the answers have probabilities.
func (e *reader) checkOwn(ctx context.Context, own ownAnswers) (workspace.Evaluated, error) {
	name, command := own.name, e.ownCommand(own)
	if err := e.require(ctx, e.workspace.EvaluationFolder(name), command); err != nil {
		return workspace.Evaluated{}, err
	}
	of, err := e.checkBest(ctx, name, command)
	if err != nil || e.checkpoint == nil || of.Calibration == "" {
		return of, err
	}
	now, err := checkpoint.Folder(e.workspace.Checkpoints()).Calibration(ctx, *e.checkpoint, of.Prior)
	if err != nil || now != nil && now.Checksum == of.Calibration {
		return of, err
	}
	return of, &workspace.Unusable{
		Reason:  fmt.Errorf("the probabilities in %s are not those of the present calibration of %s", e.workspace.Evaluation(name), e.best),
		Command: command,
	}
}

// readOwn reads a folder of answers: all for the search, and for cards those to the first queries of a file, or to the
// queries with the most promising new answers of all that --relation asks.
func (e *reader) readOwn(ctx context.Context, own *ownAnswers, cards int) error {
	folder := e.workspace.Evaluation(own.name)
	all := newSearchTable(lowered(own.title()), storage.Join(folder, evaluate.PredictionsTable), true)
	var shown []query
	answers := map[query][]parquet.Prediction{}
	err := parquet.EachPart(ctx, storage.Join(folder, evaluate.PredictionsTable), func(rows []parquet.Prediction) error {
		all.add(rows)
		queries, found := group(rows, predictedQuery, everyQuery)
		own.queries += int64(len(queries))
		if own.name == queriesFolder {
			queries = queries[:min(len(queries), cards-len(shown))]
		}
		for _, q := range queries {
			shown = append(shown, q)
			answers[q] = found[q]
		}
		if own.name != queriesFolder {
			slices.SortStableFunc(shown, func(a, b query) int { return cmp.Compare(promise(answers[b]), promise(answers[a])) })
			for _, q := range shown[min(len(shown), cards):] {
				delete(answers, q)
			}
			shown = shown[:min(len(shown), cards)]
		}
		return ctx.Err()
	})
	why := map[query]reasons{}
	if err == nil && own.explained {
		err = parquet.EachPart(ctx, storage.Join(folder, explain.Table), func(rows []parquet.Explanation) error {
			all.explain(rows)
			_, found := group(rows, explainedQuery, func(q query) bool { return answers[q] != nil })
			for q, rows := range found {
				if why[q] == nil {
					why[q] = reasons{}
				}
				if err := why[q].add(rows); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	if err != nil {
		return err
	}
	for _, q := range shown {
		c := newCard(q, answers[q], nil)
		why[q].explain(c.Answers)
		own.cards = append(own.cards, c)
	}
	e.searched = append(e.searched, all)
	return nil
}

// promise returns the highest probability of a new answer, or where there is none the highest score.
func promise(answers []parquet.Prediction) float64 {
	best := math.Inf(-1)
	for _, a := range answers {
		switch {
		case a.Known:
		case a.Probability != nil:
			best = max(best, *a.Probability)
		default:
			best = max(best, float64(a.Score))
		}
	}
	return best
}

// title returns the heading of the answers: what was asked.
func (o ownAnswers) title() string {
	switch {
	case o.pairs():
		return "Relations of your pairs"
	case o.kind == ownTriples:
		return "Your triples"
	case o.name == queriesFolder:
		return "Your queries"
	case o.model.Relations == "" && o.kind == ownPredictions:
		return "Your queries, " + shown(o.name)
	}
	title, relations := "Answers to ", o.model.Relations
	switch {
	case o.kind == ownFacts:
		title, relations = "New facts of ", o.model.Facts
	case o.model.OnlyNew:
		title = "New answers to "
	}
	if n := strings.Count(relations, ","); n > 2 {
		title += fmt.Sprintf("%d relations", n+1)
	} else {
		title += shown(relations)
	}
	for _, list := range []struct{ of, chosen string }{{"sources", o.model.Sources}, {"candidates", o.model.Candidates}} {
		if chosen, _, _ := strings.Cut(strings.TrimPrefix(list.chosen, "type:"), " names, "); chosen != "" {
			title += ", " + list.of + ": " + shown(chosen)
		}
	}
	return title
}

// provenance returns a sentence about the model that gave the answers, or "" if that was not recorded.
func (o ownAnswers) provenance() string {
	switch {
	case o.model.Model() == "":
		return ""
	case o.model.BaseRate != 0:
		return fmt.Sprintf("The answers are those of %s, and the probabilities presume --base_rate %g.", o.model.Model(), o.model.BaseRate)
	}
	return fmt.Sprintf("The answers are those of %s.", o.model.Model())
}

// composeOwnQueries returns a section for each folder with answers to the user's own queries.
func (e *evidence) composeOwnQueries() (sections []section) {
	for i, own := range e.own {
		var s section
		switch own.kind {
		case ownFacts:
			s = e.factsSection(own)
		case ownTriples:
			s = e.triplesSection(own)
		default:
			s = e.answersSection(own)
		}
		if from := own.provenance(); from != "" {
			s.Lead = slices.Insert(s.Lead, 1, from)
		}
		if s.ID = "own"; own.name != queriesFolder {
			s.ID = fmt.Sprint("own-", i)
		}
		if text := e.leftOut(); text != "" && i == len(e.own)-1 {
			s.Lead = append(s.Lead, text)
		}
		sections = append(sections, s)
	}
	return sections
}

// answersSection returns the section of a folder of answers.
func (e *evidence) answersSection(own ownAnswers) section {
	s := section{Title: own.title(), Cards: own.cards}
	s.Lead = []string{"The best answers with their scores, or probabilities where the model is calibrated. Known answers are facts of the dataset."}
	if own.explained {
		s.Lead = append(s.Lead, "The weight of a path is its share of influence on the score, to first order: no probability, and it may be negative.")
	}
	if n := len(own.cards); int64(n) < own.queries {
		which := fmt.Sprintf("the first %d of %s", n, count(own.queries))
		if own.name != queriesFolder {
			which = fmt.Sprintf("the %d of %s queries with the most promising new answers", n, count(own.queries))
		}
		s.Lead = append(s.Lead, fmt.Sprintf("These are %s; all are in %s.", which, e.workspace.EvaluationFolder(own.name)))
	}
	return s
}

// leftOut returns sentences that name the folders of answers beyond ownFolders, or "" without any.
func (e *evidence) leftOut() string {
	if len(e.notShown) == 0 {
		return ""
	}
	return fmt.Sprintf("The page shows the answers of %d folders. It leaves out %s in %s: %s.", ownFolders, plural(int64(len(e.notShown)), "other", "others"),
		e.workspace.Path(e.workspace.InRun("evaluation")), enumerate(shownNames(e.notShown)))
}

// shownNames returns the first names of a list as they are shown, and how many more there are.
func shownNames(names []string) (list []string) {
	const most = 20
	for _, name := range names[:min(most, len(names))] {
		list = append(list, shown(name))
	}
	if n := len(names) - most; n > 0 {
		list = append(list, fmt.Sprint(n, " more"))
	}
	return list
}
