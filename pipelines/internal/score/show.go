package score

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"tagnet/formats/metrics"
	"tagnet/formats/parquet"
	"tagnet/formats/reach"
	"tagnet/formats/storage"
	"tagnet/model/evaluation"
	"tagnet/pipelines/internal/progress"
	"tagnet/stages/evaluate"
)

// print prints the metrics of a split as a table.
func (a *scoring) print(ctx context.Context, m metrics.Evaluation) {
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
	a.printCalibration(ctx, m.Calibration)
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
	var predictions []parquet.Prediction
	queries := map[int64]bool{}
	enough := errors.New("the queries that are printed are read")
	err := parquet.EachPart(ctx, storage.Join(folder, evaluate.PredictionsTable), func(rows []parquet.Prediction) error {
		for _, p := range rows {
			if p.Position == 1 {
				shown++
			}
			if shown > a.asked.shown {
				return enough
			}
			predictions, queries[p.Query] = append(predictions, p), true
			width = min(40, max(width, utf8.RuneCountInString(p.Entity)))
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
	for _, p := range predictions {
		if p.Position == 1 {
			a.e.Say("\n%s", query(p))
		}
		padding := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(p.Entity)))
		a.e.Say("%4d  %s%s  %s", p.Position, p.Entity, padding, notes(p))
		a.showPaths(paths[pathsOf{p.Query, p.Entity}])
	}
	if shown > a.asked.shown {
		a.e.Say("\n... and the answers to %s more queries in the files", progress.Count(a.asked.distinct-int64(a.asked.shown)))
	}
	if shown == 0 {
		a.e.Say("\nno query has an answer: every candidate is the query's source, or a known answer that --only_new leaves out")
	} else {
		a.sayWeights()
	}
	a.e.Say("")
	a.sayUncalibrated(ctx)
	a.e.Outputs(made, storage.Join(folder, evaluate.AnswersFile))
	a.showExplanations(made, folder)
	a.e.Outputs(made, storage.Join(folder, evaluate.PredictionsTable))
	a.next()
	return nil
}

// notes returns what is printed beside an answer.
func notes(p parquet.Prediction) string {
	text := fmt.Sprintf("score %8.4f", p.Score)
	if p.Probability != nil {
		text += fmt.Sprintf("  probability %.4f", *p.Probability)
	}
	return text + hopsAndKnown(p.Hops, p.Known)
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

// query returns a prediction's query as a person writes it.
func query(p parquet.Prediction) string {
	return fmt.Sprintf("%s  %s  ?", p.Source, evaluation.Queried(p.Direction, p.Relation))
}
