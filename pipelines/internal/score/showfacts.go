package score

import (
	"context"
	"errors"
	"fmt"

	"tagnet/formats/metrics"
	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model/discovery"
	"tagnet/pipelines/internal/progress"
	"tagnet/stages/discover"
)

// show prints the first facts of the list, how good it is, and the outputs, and whether this run made them.
func (d *discovering) show(ctx context.Context, made bool) error {
	folder := d.e.Workspace.Path(d.folder)
	summary, err := storage.ReadJSON[metrics.Discovery](ctx, storage.Join(folder, metrics.DiscoveryFile))
	if err != nil {
		return err
	}
	if err := d.showFirst(ctx, folder, summary.Listed); err != nil {
		return err
	}
	d.sayWeights()
	d.e.Say("")
	d.saySummary(summary)
	d.e.Outputs(made, storage.Join(folder, discover.Text), storage.Join(folder, metrics.DiscoveryFile))
	d.showExplanations(made, folder)
	d.e.Outputs(made, storage.Join(folder, discover.Table))
	d.next()
	return nil
}

// showFirst prints the first facts of a list of so many, and with --explain why.
func (d *discovering) showFirst(ctx context.Context, folder string, listed int64) error {
	const shown = 20
	var facts []parquet.Fact
	positions := map[int64]bool{}
	enough := errors.New("the facts that are printed are read")
	err := parquet.EachPart(ctx, storage.Join(folder, discover.Table), func(rows []parquet.Fact) error {
		for _, r := range rows {
			if r.Position > shown {
				return enough
			}
			facts, positions[r.Position] = append(facts, r), true
		}
		return nil
	})
	if err != nil && err != enough {
		return err
	}
	paths, err := d.shownPaths(ctx, folder, positions)
	if err != nil {
		return err
	}
	for _, f := range facts {
		answer := f.Tail
		if f.TailScore == nil {
			answer = f.Head
		}
		d.e.Say("%5d  %s", f.Position, factLine(f))
		d.showPaths(paths[pathsOf{f.Position, answer}])
	}
	if rest := listed - shown; rest > 0 {
		d.e.Say("  ... and %s more in the files", progress.Count(rest))
	}
	return nil
}

// factLine returns a fact as a line.
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

// saySummary prints what probabilities mean, and how they compare with the test split.
func (d *discovering) saySummary(s metrics.Discovery) {
	say := d.e.Say
	if f := s.Fitted; f != nil {
		say("a probability is that of being a missing fact, if as many facts are missing as %.1f%% of the graph; fitted to %s candidates, %s of them among the %s validation facts",
			100*f.Missing, progress.Count(f.Candidates), progress.Count(f.True), progress.Count(f.Facts))
	}
	if s.Fitted == nil {
		without := ""
		if d.threshold > 0 || d.missing > 0 {
			without = ", and --threshold and --missing play no part"
		}
		say("facts get no probabilities: fewer than %d of the validation facts are among the candidates; the list is in the order of the lower one of a fact's two scores%s", discovery.MinTrue, without)
	}
	if s.Listed == 0 && d.threshold > 0 {
		say("no new fact has a probability of --threshold %g or more", d.threshold)
	}
	h := s.HeldOut
	if h == nil || h.Listed == 0 {
		return
	}
	say("with the %s candidates of the test split in the list: %.1f%% of the first %s are facts of it", progress.Count(h.Facts), 100*h.Precision, progress.Count(h.First))
	if len(h.Reliability.Bins) == 0 {
		return
	}
	say("  %-12s %10s %10s %10s", "probability", "facts", "mean", "true")
	for _, b := range h.Reliability.Bins {
		if b.Candidates > 0 {
			say("  %.1f to %.1f   %10s %10.3f %10.3f", b.From, b.To, progress.Count(b.Candidates), b.Mean, b.Observed)
		}
	}
	say("  calibration error %.4f over the %s facts of that list, made with --top_k %d", h.Reliability.Error, progress.Count(h.Listed), s.TopK)
}
