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
}

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
	maps.DeleteFunc(tables, func(_ string, t map[string]bool) bool { return !t[evaluate.PredictionsTable] })
	return tables
}

// readOwnQueries reads the answers to the user's own queries, if there are any, and why they were given, if that was
// computed. Folders that cannot be used do not count among those that the page shows.
func (e *reader) readOwnQueries(ctx context.Context) {
	tables := e.ownTables(ctx)
	names := byWeight(slices.Collect(maps.Keys(tables)), queriesFolder)
	var usable []ownAnswers
	for i, name := range names {
		if len(usable) == ownFolders {
			e.notShown = names[i:]
			break
		}
		model, err := e.checkOwn(ctx, name)
		if err != nil {
			e.missingOwn(name, err)
			continue
		}
		usable = append(usable, ownAnswers{name: name, model: model, explained: tables[name][explain.Table]})
	}
	for _, own := range usable {
		if err := e.readOwn(ctx, &own, ownShown/len(usable)); err != nil {
			e.missingOwn(own.name, err)
			continue
		}
		e.own = append(e.own, own)
	}
}

// ownCommand returns the command line that writes a folder of answers to the user's own queries.
func (e *evidence) ownCommand(name string) workspace.Command {
	if name == queriesFolder {
		return e.workspace.Command("score", "--queries", "FILE")
	}
	return e.workspace.Command("score", "--relation", "RELATION", "--output", name)
}

// missingOwn notes the gap of a folder of answers that cannot be used.
func (e *reader) missingOwn(name string, err error) {
	what := "The answers to your own queries cannot be shown"
	if name != queriesFolder {
		what = "The answers in " + e.workspace.EvaluationFolder(name) + " cannot be shown"
	}
	e.missing(queriesSection, what, e.ownCommand(name), err)
}

// checkOwn returns the model of a folder of answers. It returns an error unless the folder is complete and its model is
// the best checkpoint, with the present calibration if the answers have probabilities.
func (e *reader) checkOwn(ctx context.Context, name string) (workspace.Evaluated, error) {
	command := e.ownCommand(name)
	if err := e.require(ctx, e.workspace.EvaluationFolder(name), command); err != nil {
		return workspace.Evaluated{}, err
	}
	of, err := e.checkBest(ctx, name, command)
	if err != nil || e.checkpoint == nil || of.Calibration == "" {
		return of, err
	}
	now, err := checkpoint.Folder(e.workspace.Checkpoints()).Calibration(ctx, *e.checkpoint)
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
	title := own.title()
	all := newSearchTable(strings.ToLower(title[:1])+title[1:], storage.Join(folder, evaluate.PredictionsTable), true)
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
	case o.name == queriesFolder:
		return "Your queries"
	case o.model.Relations == "":
		return "Your queries, " + shown(o.name)
	}
	title := "Answers to " + shown(o.model.Relations)
	if n := strings.Count(o.model.Relations, ","); n > 2 {
		title = fmt.Sprintf("Answers to %d relations", n+1)
	}
	if o.model.OnlyNew {
		title = "New a" + title[1:]
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
		s := section{ID: "own", Title: own.title(), Cards: own.cards}
		if own.name != queriesFolder {
			s.ID = fmt.Sprint("own-", i)
		}
		s.Lead = []string{"The best answers with their scores, or probabilities where the model is calibrated. Known answers are facts of the dataset."}
		if from := own.provenance(); from != "" {
			s.Lead = append(s.Lead, from)
		}
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
		if text := e.leftOut(); text != "" && i == len(e.own)-1 {
			s.Lead = append(s.Lead, text)
		}
		sections = append(sections, s)
	}
	return sections
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
