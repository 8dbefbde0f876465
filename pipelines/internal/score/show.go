package score

import (
	"fmt"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/cli/progress"
)

// print prints the metrics of a split as a table.
func (a *evaluating) print(m metrics.Evaluation) {
	say := a.E.Say
	say("")
	asked := m.Split + " split"
	if m.Protocol != "" {
		asked = fmt.Sprintf("protocol %s (%s)", m.Protocol, m.Protocol.About())
	}
	model := "checkpoint " + m.Checkpoint
	if a.Given() {
		model = a.Model.Record.Origin.File
		if name := a.Model.Record.Origin.Model; name != "" {
			model = "model " + name
		}
	}
	queries := progress.Count(m.Queries)
	if m.Sample != nil {
		queries += " of " + progress.Count(m.Sample.Of)
	}
	say("%s, %s: %s queries, %s distinct", asked, model, queries, progress.Count(m.Distinct))
	say("  %-28s %7s %7s %7s %7s %10s", "filtered, ties", "MRR", "Hits@1", "Hits@3", "Hits@10", "mean rank")
	// Ties count as worse, in the middle or better.
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
func (a *evaluating) printBaselines(m metrics.Evaluation) {
	if m.Baselines == nil {
		return
	}
	popularity, rules := m.Baselines.Popularity.Pessimistic, m.Baselines.Rules.Pessimistic
	a.E.Say("  without a model: by popularity MRR %.4f, Hits@10 %.4f; by rules of one hop MRR %.4f, Hits@10 %.4f",
		popularity.MRR, popularity.Hits10, rules.MRR, rules.Hits10)
	const shown = 3
	if below := m.BelowPopularity(); len(below) > 0 {
		more := ""
		if n := len(below) - shown; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		a.E.Say("  below popularity on %s%s", strings.Join(below[:min(shown, len(below))], ", "), more)
	}
}

// share returns a part of a whole.
func share(part, whole int64) float64 { return float64(part) / float64(max(1, whole)) }
