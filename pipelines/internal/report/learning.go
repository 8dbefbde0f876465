package report

import (
	"fmt"
	"strconv"

	"tagnet/pipelines/internal/report/chart"
)

// learningPart returns the section on the loss and the validation metrics.
func (e *evidence) learningPart() section {
	s := section{ID: learningSection, Title: "Training", Gaps: e.gaps[learningSection]}
	if len(e.epochs) == 0 {
		return s
	}
	first, last := e.epochs[0], e.epochs[len(e.epochs)-1]
	seconds := 0.0
	var loss chart.Series
	mrr, hits := chart.Series{Name: "MRR"}, chart.Series{Name: "Hits@10"}
	best := -1
	for i, one := range e.epochs {
		seconds += one.Seconds
		x := float64(one.Epoch)
		loss.Points = append(loss.Points, chart.Point{X: x, Y: one.Loss})
		if one.Valid == nil {
			continue
		}
		mrr.Points = append(mrr.Points, chart.Point{X: x, Y: one.Valid.Selection().MRR})
		hits.Points = append(hits.Points, chart.Point{X: x, Y: one.Valid.Selection().Hits10})
		if best < 0 || one.Valid.Better(e.epochs[best].Valid) {
			best = i
		}
	}
	lead := fmt.Sprintf("In %s the mean loss of a query changed from %s to %s, in %s.",
		plural(int64(len(e.epochs)), "epoch", "epochs"), metric(first.Loss), metric(last.Loss), duration(seconds))
	if best >= 0 {
		lead += fmt.Sprintf(" The validation MRR was highest after epoch %d, at %s.", e.epochs[best].Epoch, metric(e.epochs[best].Valid.Selection().MRR))
	}
	if e.toGo > 0 {
		lead += fmt.Sprintf(" The training is not finished: %s are configured.", plural(int64(e.toGo), "epoch", "epochs"))
	}
	s.Lead = []string{lead}
	epochs := chart.Axis{Label: "epoch", Whole: true}
	s.Figures = append(s.Figures, newFigure("loss", "Loss", "Mean over all training queries of an epoch.", chart.Lines{
		Title: "Loss", Description: "Mean training loss by epoch.", X: epochs, Y: chart.Axis{Zero: true}, Series: []chart.Series{loss},
	}.SVG()))
	if len(mrr.Points) > 0 {
		s.Figures = append(s.Figures, newFigure("validation", "Validation", "Filtered ranks, ties counted against the answer.", chart.Lines{
			Title: "Validation", Description: "MRR and Hits@10 by epoch.", X: epochs,
			Y: chart.Axis{Format: wholeMetric, Most: 1}, Series: []chart.Series{mrr, hits},
		}.SVG()))
	}
	s.Tables = append(s.Tables, e.epochTable())
	return s
}

// wholeMetric formats a tick of an axis of metrics.
func wholeMetric(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

func (e *evidence) epochTable() table {
	t := table{Title: "Every epoch", Folded: true, Head: []cell{
		text("Epoch"), number("Loss"), number("Valid MRR"), number("Hits@1"), number("Hits@10"), number("Learning rate"), number("Messages"), number("Time")}}
	for _, one := range e.epochs {
		mrr, hits1, hits10 := "–", "–", "–"
		if one.Valid != nil {
			m := one.Valid.Selection()
			mrr, hits1, hits10 = metric(m.MRR), metric(m.Hits1), metric(m.Hits10)
		}
		t.Rows = append(t.Rows, []cell{text(strconv.Itoa(one.Epoch)), number(strconv.FormatFloat(one.Loss, 'f', 4, 64)), number(mrr), number(hits1), number(hits10),
			number(strconv.FormatFloat(one.LearningRate, 'g', 3, 64)), number(short(float64(one.Messages))), number(duration(one.Seconds))})
	}
	return t
}
