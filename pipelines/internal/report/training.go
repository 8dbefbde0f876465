package report

import (
	"fmt"
	"strconv"

	"tagnet/model/study/chart"
)

// composeTraining returns the section on the loss and the validation metrics.
func (e *evidence) composeTraining() section {
	s := section{ID: trainingSection, Title: "Training"}
	if len(e.epochs) == 0 {
		return s
	}
	seconds, best := 0.0, -1
	var loss chart.Series
	mrr, hits := chart.Series{Key: chart.Key{Name: "MRR"}}, chart.Series{Key: chart.Key{Name: "Hits@10", Color: 1}}
	all := table{Title: "Every epoch", Folded: true, Head: []string{"Epoch", "Loss", "Valid MRR", "Hits@1", "Hits@10", "Learning rate", "Messages", "Time"}}
	for i, one := range e.epochs {
		seconds += one.Seconds
		x := float64(one.Epoch)
		loss.Points = append(loss.Points, chart.Point{X: x, Y: one.Loss})
		valid := []string{"–", "–", "–"}
		if one.Valid != nil {
			m := one.Valid.Selection()
			valid = []string{metric(m.MRR), metric(m.Hits1), metric(m.Hits10)}
			mrr.Points = append(mrr.Points, chart.Point{X: x, Y: m.MRR})
			hits.Points = append(hits.Points, chart.Point{X: x, Y: m.Hits10})
			if best < 0 || one.Valid.Better(e.epochs[best].Valid) {
				best = i
			}
		}
		all.add(strconv.Itoa(one.Epoch), fmt.Sprintf("%.4f", one.Loss), valid[0], valid[1], valid[2],
			fmt.Sprintf("%.3g", one.LearningRate), short(float64(one.Messages)), duration(one.Seconds))
	}
	change := "was " + metric(e.epochs[0].Loss)
	if len(e.epochs) > 1 {
		change = fmt.Sprintf("changed from %s to %s", metric(e.epochs[0].Loss), metric(e.epochs[len(e.epochs)-1].Loss))
	}
	lead := fmt.Sprintf("In %s the mean loss of a query %s, in %s.", plural(int64(len(e.epochs)), "epoch", "epochs"), change, duration(seconds))
	if best >= 0 {
		lead += fmt.Sprintf(" The validation MRR was highest after epoch %d, at %s.", e.epochs[best].Epoch, metric(e.epochs[best].Valid.Selection().MRR))
		if v := e.epochs[best].Valid; v.AtChance() {
			lead += fmt.Sprintf(" That is not clearly above %s, the MRR of random scores.", metric(v.Chance.MRR))
		}
	}
	if e.toGo > 0 {
		lead += fmt.Sprintf(" The training is not finished: %s are configured.", plural(int64(e.toGo), "epoch", "epochs"))
	}
	s.Lead = []string{lead}
	epochs := chart.Axis{Label: "epoch", Whole: true}
	s.Figures = append(s.Figures, newFigure("loss", "Loss", "Mean over all training queries of an epoch.",
		chart.Lines{X: epochs, Y: chart.Axis{Zero: true}, Series: []chart.Series{loss}}))
	if len(mrr.Points) > 0 {
		s.Figures = append(s.Figures, newFigure("validation", "Validation", "Filtered pessimistic ranks.",
			chart.Lines{X: epochs, Y: chart.Axis{Most: 1}, Series: []chart.Series{mrr, hits}}))
	}
	s.Tables = []table{all}
	return s
}
