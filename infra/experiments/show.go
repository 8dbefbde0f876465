package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/comparison"
	"tagnet/infra/experiments/internal/engine"
)

// printPlan prints how far each run is.
func (s *session) printPlan() error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for i, r := range s.runs {
		status := s.statuses[i]
		note := status.Why
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
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID(), status.State, note)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var states []string
	for _, state := range []engine.State{engine.Done, engine.Running, engine.Trained, engine.Interrupted, engine.Stale, engine.Missing} {
		if n := s.count(state); n > 0 {
			states = append(states, fmt.Sprintf("%d %s", n, state))
		}
	}
	fmt.Fprintf(s.out, "%s: %s\n", count(len(s.runs), "run"), strings.Join(states, ", "))
	return nil
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
