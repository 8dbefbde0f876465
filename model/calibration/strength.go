package calibration

// strengths are those that chooseStrength tries, in candidates.
var strengths = []float64{3000, 1000, 300, 100, 30, 10}

// chooseStrength returns the strength with which the relations predict the queries of a left out fold best, summed over
// the folds: the least log loss. It returns 0 if the whole predicts them as well, or no relation has enough queries.
func chooseStrength(groups []*relationGroup) float64 {
	losses := make([]float64, len(strengths))
	wholeLoss := 0.0
	for fold := range folds {
		all := join(groups, fold)
		whole := fitWhole(all)
		priors := make([]prior, len(strengths))
		for i, s := range strengths {
			priors[i] = whole.worth(s)
		}
		for _, g := range groups {
			if g.Queries < MinQueries {
				continue // it has the line of the whole, whatever the strength
			}
			kept, left := g.points(fold), g.byFold[fold]
			wholeLoss += logLoss(left, whole.Line)
			for i, p := range priors {
				losses[i] += logLoss(left, fit(kept, p))
			}
		}
	}
	best, least := 0.0, wholeLoss
	for i, s := range strengths {
		if losses[i] < least {
			best, least = s, losses[i]
		}
	}
	return best
}

// logLoss returns the log loss of points under a line.
func logLoss(points []point, l Line) float64 {
	sum := 0.0
	for _, p := range points {
		z := l.logOdds(p.x)
		if p.true {
			z = -z
		}
		sum += softplus(z)
	}
	return sum
}
