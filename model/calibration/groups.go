package calibration

import "math"

// relationGroup has the candidates of a relation in one direction.
type relationGroup struct {
	relation int32
	Counts
	byFold [folds][]point
}

// folds is the number of parts of the queries that chooseStrength leaves out in turn, everyFold stands for none.
const (
	folds     = 5
	everyFold = -1
)

// group divides a sorted sample by relation, with standardized scores.
func group(sample []Candidate, s scale) []*relationGroup {
	var groups []*relationGroup
	for i, c := range sample {
		if i == 0 || c.Relation != sample[i-1].Relation {
			groups = append(groups, &relationGroup{relation: c.Relation})
		}
		g := groups[len(groups)-1]
		if g.Candidates == 0 || c.Query != sample[i-1].Query {
			g.Queries++
		}
		g.Candidates++
		if c.True {
			g.True++
		}
		fold := int(c.Query % folds)
		g.byFold[fold] = append(g.byFold[fold], point{s.standardize(c.Score), c.True})
	}
	return groups
}

// points returns the points of all folds but one.
func (g *relationGroup) points(without int) []point {
	points := make([]point, 0, g.Candidates)
	for fold, p := range g.byFold {
		if fold != without {
			points = append(points, p...)
		}
	}
	return points
}

// join returns the points of all groups and of all folds but one.
func join(groups []*relationGroup, without int) []point {
	var points []point
	for _, g := range groups {
		points = append(points, g.points(without)...)
	}
	return points
}

// scale standardizes scores, so that the Hessian of a fit is well conditioned whatever their unit.
type scale struct{ mean, deviation float64 }

func newScale(sample []Candidate) scale {
	var s scale
	n := float64(len(sample))
	for _, c := range sample {
		s.mean += float64(c.Score) / n
	}
	for _, c := range sample {
		d := float64(c.Score) - s.mean
		s.deviation += d * d / n
	}
	if s.deviation = math.Sqrt(s.deviation); s.deviation == 0 {
		s.deviation = 1
	}
	return s
}

func (s scale) standardize(score float32) float64 { return (float64(score) - s.mean) / s.deviation }

// restore returns a line over standardized scores as one over scores.
func (s scale) restore(l Line) Line {
	slope := l.Slope / s.deviation
	return Line{l.Intercept - slope*s.mean, slope}
}
