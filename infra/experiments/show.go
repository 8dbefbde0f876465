package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"tagnet/formats/results"
	"tagnet/infra/experiments/internal/comparison"
	"tagnet/infra/experiments/internal/engine"
)

// printPlan prints how far each run is.
func (s *session) printPlan() error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for i, r := range s.runs {
		status := s.statuses[i]
		note := status.Why
		left := r.Configuration.Epochs - status.Epochs
		switch status.State {
		case engine.Done:
			note = "took " + duration(status.Result.Training.Seconds)
		case engine.Running, engine.Interrupted:
			note = fmt.Sprintf("epoch %d of %d", status.Epochs, r.Configuration.Epochs)
		case engine.Trained:
			if len(status.Unscored) > 0 {
				note = "to evaluate: " + strings.Join(status.Unscored, ", ")
			}
		}
		if seconds, known := s.estimates.Seconds(r, left); known && status.State != engine.Done && left > 0 {
			note = joined(note, "about "+duration(seconds))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID(), status.State, note)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	text := fmt.Sprintf("%s:", count(len(s.runs), "run"))
	for _, state := range []engine.State{engine.Done, engine.Running, engine.Trained, engine.Interrupted, engine.Stale, engine.Missing} {
		if n := s.count(state); n > 0 {
			text = fmt.Sprintf("%s %d %s,", text, n, state)
		}
	}
	fmt.Fprintf(s.out, "%s %s\n", text, s.timeLeft(nil))
	return nil
}

func joined(note, more string) string {
	if note == "" {
		return more
	}
	return note + ", " + more
}

// timeLeft estimates the time until all runs are made. epochs has those that runs in progress have finished.
func (s *session) timeLeft(epochs map[string]int) string {
	if s.waiting() == 0 {
		return "nothing to make"
	}
	total, unknown := 0.0, 0
	for i, r := range s.runs {
		if status := s.statuses[i]; s.engine.Makes(status) {
			seconds, known := s.estimates.Seconds(r, r.Configuration.Epochs-max(status.Epochs, epochs[r.ID()]))
			if !known && status.State != engine.Trained {
				unknown++
			}
			total += seconds / float64(s.cores)
		}
	}
	switch {
	case unknown > 0 && total == 0:
		return "time left unknown"
	case unknown > 0:
		return fmt.Sprintf("at least %s left, %s of unknown length", duration(total), count(unknown, "run"))
	}
	return "about " + duration(total) + " left"
}

// printTable prints the mean and the standard deviation of the test metrics over the seeds of each cell.
func (s *session) printTable() {
	cells := map[string]*comparison.Group{}
	var order []string
	for i, r := range s.runs {
		if s.statuses[i].State != engine.Done {
			continue
		}
		if _, ok := s.statuses[i].Result.Evaluation[results.TestProtocol]; !ok {
			continue
		}
		if cells[r.Cell()] == nil {
			cells[r.Cell()] = &comparison.Group{}
			order = append(order, r.Cell())
		}
		cells[r.Cell()].Results = append(cells[r.Cell()].Results, *s.statuses[i].Result)
	}
	if len(order) == 0 {
		return
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ntest, mean and standard deviation\tseeds\tMRR\tHits@1\tHits@10\tmessages of NBFNet's\ttraining")
	for _, name := range order {
		cell := cells[name]
		fmt.Fprintf(w, "%s\t%d", name, len(cell.Results))
		for _, m := range []comparison.Metric{comparison.MRR, comparison.Hits1, comparison.Hits10} {
			fmt.Fprintf(w, "\t%s", cell.Metric(results.TestProtocol, m).Plus("%.4f"))
		}
		fmt.Fprintf(w, "\t%.1f%%\t%s\n", 100*cell.Sent(results.TestProtocol).Mean, duration(cell.Seconds().Mean))
	}
	fmt.Fprintln(w)
	w.Flush()
}

// duration writes seconds with the digits that mean something.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// count returns "1 run" or "2 runs", and are the same with its verb.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func are(n int, noun string) string {
	return count(n, noun) + map[bool]string{true: " is", false: " are"}[n == 1]
}
