package discover

import (
	"context"
	"fmt"
	"slices"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/pipelines/internal/scoring"
	"tagnet/stages/predict/discover"
)

// show prints the first facts of the list, what it was made of, and the outputs. They are fresh if this run made them.
func (d *discovering) show(ctx context.Context, fresh bool) error {
	folder := d.E.Workspace.Path(d.folder)
	summary, err := storage.ReadJSON[metrics.Discovery](ctx, storage.Join(folder, metrics.DiscoveryFile))
	if err != nil {
		return err
	}
	if err := d.showFirst(ctx, folder, summary.Listed); err != nil {
		return err
	}
	if err := d.find(ctx); err != nil {
		return err
	}
	first := d.found.First(func(relation int32) bool { return slices.Contains(d.relations, relation%int32(len(d.found.Relations))) })
	if len(first) > 0 {
		d.E.Say("\nwhat the graph lacks by its rules:")
	}
	for _, sentence := range first {
		d.E.Say("  %s", sentence)
	}
	if more := len(d.found.Findings) - len(first); more > 0 && len(first) > 0 {
		d.E.Say("  (%s more in %s)", progress.Count(int64(more)), probabilities.RulesFile)
	}
	d.E.Say("")
	d.SayUncertain(fresh)
	d.saySummary(summary)
	d.E.Outputs(fresh, storage.Join(folder, discover.Text), storage.Join(folder, metrics.DiscoveryFile), storage.Join(folder, probabilities.RulesFile))
	d.SayExplanations(fresh, folder)
	d.E.Outputs(fresh, storage.Join(folder, discover.Table))
	d.Next()
	return nil
}

// showFirst prints the first of the listed facts, and with --explain why.
func (d *discovering) showFirst(ctx context.Context, folder string, listed int64) error {
	const shown = 20
	var facts []parquet.Fact
	positions := map[int64]bool{}
	err := scoring.FirstRows(ctx, storage.Join(folder, discover.Table), func(r parquet.Fact) bool {
		if r.Position <= shown {
			facts, positions[r.Position] = append(facts, r), true
		}
		return r.Position <= shown
	})
	if err != nil {
		return err
	}
	reasons, err := d.ReadReasons(ctx, folder, positions)
	if err != nil {
		return err
	}
	for _, f := range facts {
		d.E.Say("%5d  %s", f.Position, factLine(f))
		d.SayReasons(reasons, f.Position, f.Tail)
	}
	if rest := listed - shown; rest > 0 {
		d.E.Say("  ... and %s more in the files", progress.Count(rest))
	}
	d.SayMeaning(reasons)
	return nil
}

func factLine(r parquet.Fact) string {
	text := ""
	if r.Probability != nil {
		text = fmt.Sprintf("%.4f  ", *r.Probability)
	}
	text += fmt.Sprintf("%s  %s  %s", names.Escape(r.Head), names.Escape(r.Relation), names.Escape(r.Tail))
	if r.Hops < 0 {
		return text + "  (unreached)"
	}
	return text
}

// saySummary prints what the list was made of.
func (d *discovering) saySummary(s metrics.Discovery) {
	say := d.E.Say
	say("candidates: %s, of %s queries; queries that were asked backward: %s", progress.Count(s.Candidates), progress.Count(s.Queries),
		progress.Count(s.BackwardQueries))
	switch p := s.Probabilities; {
	case p == nil:
		without := ""
		if d.flags.threshold > 0 {
			without = ", and --threshold plays no part"
		}
		say("the list is in the order of the lower one of a fact's two scores%s", without)
	case p.WithoutProbability > 0:
		say("candidates without a probability, since fewer than 2 facts of their relations are among what was fitted to: %s; they are last",
			progress.Count(p.WithoutProbability))
	}
	if s.Listed == 0 && d.flags.threshold > 0 {
		say("no new fact has a probability of --threshold %g or more", d.flags.threshold)
	}
}
