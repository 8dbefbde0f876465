package main

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"tagnet/formats/results"
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
	cells := map[string][]results.Result{}
	var order []string
	for i, r := range s.runs {
		if s.statuses[i].State != engine.Done {
			continue
		}
		if _, ok := s.statuses[i].Result.Evaluation[results.TestProtocol]; !ok {
			continue
		}
		if cells[r.Cell()] == nil {
			order = append(order, r.Cell())
		}
		cells[r.Cell()] = append(cells[r.Cell()], *s.statuses[i].Result)
	}
	if len(order) == 0 {
		return
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ntest, mean and standard deviation\tseeds\tMRR\tHits@1\tHits@10\tmessages of NBFNet's\ttraining")
	for _, cell := range order {
		of := func(value func(r results.Result, e results.Evaluation) float64) (mean, deviation float64) {
			var values []float64
			for _, r := range cells[cell] {
				values = append(values, value(r, r.Evaluation[results.TestProtocol]))
			}
			return meanDeviation(values)
		}
		metric := func(value func(m results.Metrics) float64) string {
			mean, deviation := of(func(_ results.Result, e results.Evaluation) float64 { return value(e.Pessimistic) })
			if math.IsNaN(deviation) {
				return fmt.Sprintf("%.4f", mean)
			}
			return fmt.Sprintf("%.4f ± %.4f", mean, deviation)
		}
		share, _ := of(func(_ results.Result, e results.Evaluation) float64 {
			return float64(e.Messages) / float64(e.NBFNetMessages)
		})
		seconds, _ := of(func(r results.Result, _ results.Evaluation) float64 { return r.Training.Seconds })
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%.1f%%\t%s\n", cell, len(cells[cell]), metric(func(m results.Metrics) float64 { return m.MRR }),
			metric(func(m results.Metrics) float64 { return m.Hits1 }), metric(func(m results.Metrics) float64 { return m.Hits10 }), 100*share, duration(seconds))
	}
	fmt.Fprintln(w)
	w.Flush()
}

// meanDeviation returns the mean and the standard deviation of a sample, which is NaN for a single value.
func meanDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(values)-1))
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
