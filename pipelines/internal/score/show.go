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
	if a.ModelGiven {
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
	a.printMetrics(m)
	say("  %.1f%% of the answers tie with another entity, %.1f%% are out of reach", 100*m.Tied, 100*(float64(m.Unreached)/float64(max(1, m.Queries))))
	a.printBaselines(m)
	say("")
}

// printMetrics prints a column for each metric. Ties count as worse, in the middle or better.
func (a *evaluating) printMetrics(m metrics.Evaluation) {
	row := func(name string, text func(one metrics.Metric) string) {
		line := fmt.Sprintf("  %-28s", name)
		for _, one := range metrics.Table {
			width := 7
			if one.Interval == nil {
				width = 10
			}
			line += fmt.Sprintf(" %*s", width, text(one))
		}
		a.E.Say("%s", strings.TrimRight(line, " "))
	}
	row("filtered, ties", func(one metrics.Metric) string { return one.Title })
	row("pessimistic (the paper's)", m.Pessimistic.Text)
	if m.Sample != nil && m.Sample.Intervals != nil {
		row("  95% interval of all, from", m.Sample.Intervals.Low)
		row(fmt.Sprintf("%28s", "to"), m.Sample.Intervals.High)
	}
	row("mean", m.Mean.Text)
	row("optimistic", m.Optimistic.Text)
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
