package tuning

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Print prints a rung as a table, the best candidate first.
func (s Search) Print(w io.Writer, r Rung) error {
	fmt.Fprintf(w, "rung %d of %d, epoch %d: %s\n", r.Number, len(s.Rungs), r.Epochs, s.summary(r))
	fields := s.Space.Fields()
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "candidate\tvalidation MRR\tminutes\t%s\t\n", strings.Join(fields, "\t"))
	for i, e := range r.Entries {
		mrr, note := fmt.Sprintf("%.4f", e.Outcome.MRR), ""
		switch {
		case e.Diverged != "":
			mrr, note = "diverged", "  "+e.Diverged
		case i < r.Promoted:
			note = "  continues"
		}
		fmt.Fprintf(table, "%d\t%s\t%.1f\t", e.Candidate.Number, mrr, e.Outcome.Seconds/60)
		for _, field := range fields {
			fmt.Fprintf(table, "%s\t", Value(e.Candidate.Configuration, field))
		}
		fmt.Fprintf(table, "%s\n", note) // the last column has no tab, and so is aligned to the left
	}
	return table.Flush()
}

// PrintCandidates prints the candidates as a table.
func (s Search) PrintCandidates(w io.Writer, candidates []Candidate) error {
	fields := s.Space.Fields()
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "candidate\t%s\t\n", strings.Join(fields, "\t"))
	for _, c := range candidates {
		fmt.Fprintf(table, "%d\t", c.Number)
		for _, field := range fields {
			fmt.Fprintf(table, "%s\t", Value(c.Configuration, field))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// Schedule describes how many candidates are trained to which epoch if the time suffices and none diverges.
func (s Search) Schedule(candidates int) string {
	var text []string
	for _, to := range s.Rungs {
		text = append(text, fmt.Sprintf("%d to epoch %d", candidates, to))
		candidates = s.keep(candidates)
	}
	return strings.Join(text, ", ")
}

// summary counts the candidates of a rung that were trained, diverged or continue.
func (s Search) summary(r Rung) string {
	diverged := 0
	for _, e := range r.Entries {
		if e.Diverged != "" {
			diverged++
		}
	}
	text := fmt.Sprintf("%d candidates", len(r.Entries))
	if len(r.Entries) == 1 {
		text = "1 candidate"
	}
	if r.Untrained > 0 {
		text += fmt.Sprintf(", %d more not trained: the %g training_hours are used", r.Untrained, s.Hours)
	}
	if diverged > 0 {
		text += fmt.Sprintf(", %d diverged", diverged)
	}
	if r.Promoted > 0 {
		text += fmt.Sprintf(", %d continue to epoch %d", r.Promoted, s.Rungs[r.Number])
	}
	return text
}
