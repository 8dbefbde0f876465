package score

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"tagnet/formats/reach"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/evaluation"
	"tagnet/model/answer/probability"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/evaluate"
)

// print prints the metrics of a split as a table.
func (a *scoring) print(m metrics.Evaluation) {
	say := a.e.Say
	say("")
	asked := m.Split + " split"
	if m.Protocol != "" {
		asked = fmt.Sprintf("protocol %s (%s)", m.Protocol, m.Protocol.About())
	}
	model := "checkpoint " + m.Checkpoint
	if a.given {
		model = a.model.Record.Origin.File
		if name := a.model.Record.Origin.Model; name != "" {
			model = "model " + name
		}
	}
	queries := progress.Count(m.Queries)
	if m.Sample != nil {
		queries += " of " + progress.Count(m.Sample.Of)
	}
	say("%s, %s: %s queries, %s distinct", asked, model, queries, progress.Count(m.Distinct))
	say("  %-28s %7s %7s %7s %7s %10s", "filtered, ties", "MRR", "Hits@1", "Hits@3", "Hits@10", "mean rank")
	row := func(name string, r metrics.Metrics) {
		say("  %-28s %7.4f %7.4f %7.4f %7.4f %10.1f", name, r.MRR, r.Hits1, r.Hits3, r.Hits10, r.MeanRank)
	}
	row("pessimistic (the paper's)", m.Pessimistic)
	if m.Sample != nil && m.Sample.Intervals != nil {
		i := m.Sample.Intervals
		say("  %-28s %7.4f %7.4f %7.4f %7.4f", "  95% interval of all, from", i.MRR.Low, i.Hits1.Low, i.Hits3.Low, i.Hits10.Low)
		say("  %28s %7.4f %7.4f %7.4f %7.4f", "to", i.MRR.High, i.Hits1.High, i.Hits3.High, i.Hits10.High)
	}
	row("mean", m.Mean)
	row("optimistic", m.Optimistic)
	say("  %.1f%% of the answers tie with another entity, %.1f%% are out of reach", 100*m.Tied, 100*share(m.Unreached, m.Queries))
	a.printBaselines(m)
	say("")
}

// printBaselines says how the answers rank without a model, and where that is better.
func (a *scoring) printBaselines(m metrics.Evaluation) {
	if m.Baselines == nil {
		return
	}
	popularity, rules := m.Baselines.Popularity.Pessimistic, m.Baselines.Rules.Pessimistic
	a.e.Say("  without a model: by popularity MRR %.4f, Hits@10 %.4f; by rules of one hop MRR %.4f, Hits@10 %.4f",
		popularity.MRR, popularity.Hits10, rules.MRR, rules.Hits10)
	const shown = 3
	if below := m.BelowPopularity(); len(below) > 0 {
		more := ""
		if n := len(below) - shown; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		a.e.Say("  below popularity on %s%s", strings.Join(below[:min(shown, len(below))], ", "), more)
	}
}

func share(part, whole int64) float64 { return float64(part) / float64(max(1, whole)) }

// showAnswers prints the answers and the outputs, and whether this run made them.
func (a *scoring) showAnswers(ctx context.Context, made bool) error {
	folder := a.e.Workspace.Path(a.asked.folder)
	shown, width := 0, 0
	var answers []parquet.Answer
	queries := map[int64]bool{}
	enough := errors.New("the answers that are printed are read")
	err := parquet.EachPart(ctx, storage.Join(folder, evaluate.PredictionsTable), func(rows []parquet.Answer) error {
		for _, r := range rows {
			if r.Position == 1 {
				shown++
			}
			if shown > a.asked.shown {
				return enough
			}
			answers, queries[r.Query] = append(answers, r), true
			width = min(40, max(width, utf8.RuneCountInString(r.Entity)))
		}
		return nil
	})
	if err != nil && err != enough {
		return err
	}
	paths, err := a.shownPaths(ctx, folder, queries)
	if err != nil {
		return err
	}
	if shown > 0 {
		a.e.Say("\nscore and rank of the query / of the one in the other direction:")
	}
	for _, r := range answers {
		if r.Position == 1 {
			a.e.Say("\n%s", query(r))
		}
		padding := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(r.Entity)))
		a.e.Say("%4d  %s%s  %s", r.Position, r.Entity, padding, a.notes(r))
		a.showPaths(paths[pathsOf{r.Query, r.Entity}])
	}
	if shown > a.asked.shown {
		a.e.Say("\n... and the answers to %s more queries in the files", progress.Count(a.asked.distinct-int64(a.asked.shown)))
	}
	if shown == 0 {
		a.e.Say("\nno query has an answer: every candidate is the query's source, or a known answer, which --known lists")
	} else {
		a.sayWeights()
	}
	a.e.Say("")
	if err := a.sayAnswered(ctx, storage.Join(folder, evaluate.AnsweredFile)); err != nil {
		return err
	}
	a.sayUncertain(made, a.asked.probabilities.Folder != "")
	a.e.Outputs(made, storage.Join(folder, evaluate.AnswersFile))
	a.showExplanations(made, folder)
	a.e.Outputs(made, storage.Join(folder, evaluate.PredictionsTable))
	a.next()
	return nil
}

// sayAnswered says what it took to answer, and what is not listed.
func (a *scoring) sayAnswered(ctx context.Context, url string) error {
	took, err := storage.ReadJSON[evaluate.Answered](ctx, url)
	if err != nil {
		return err
	}
	a.e.Say("asked backward: %s of at most %s more propagations", progress.Count(took.Backward), progress.Count(took.Most))
	if took.Unlisted > 0 {
		a.e.Say("known answers that are not listed: %s, of queries with more than %d", progress.Count(took.Unlisted), answer.MostKnown)
	}
	return nil
}

// notes returns what is printed beside an answer: its probability, and what the query and the one in the other direction say.
func (a *scoring) notes(r parquet.Answer) string {
	text := a.probability(r.Probability)
	return text + fmt.Sprintf("score %8.4f / %8.4f  rank %5d / %5d", r.Score, r.OtherScore, r.Rank, r.OtherRank) + hopsAndKnown(r.Hops, r.Known)
}

// probability returns what is printed of a probability, nothing where there are none.
func (a *scoring) probability(p *float64) string {
	switch {
	case a.asked.probabilities.Folder == "":
		return ""
	case p == nil:
		return fmt.Sprintf("probability %-11s  ", "unknown")
	}
	return fmt.Sprintf("probability %-11s  ", probability.Text(*p))
}

// hopsAndKnown returns the last notes beside an answer.
func hopsAndKnown(hops int32, known bool) (text string) {
	switch hops {
	case reach.Column:
		text = "  unreached"
	case 1:
		text = "  1 hop"
	default:
		text = fmt.Sprintf("  %d hops", hops)
	}
	if known {
		text += "  known"
	}
	return text
}

// query returns the query of an answer as a person writes it.
func query(r parquet.Answer) string {
	return fmt.Sprintf("%s  %s  ?", r.Source, evaluation.Queried(r.Direction, r.Relation))
}
