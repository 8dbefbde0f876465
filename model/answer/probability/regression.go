package probability

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// example is an observation as the regression sees it.
type example struct {
	row
	relation int32
	// group is an index of Regression.Groups.
	group   int
	fold    int
	labeled bool
	// weight is the number of observations that it stands for.
	weight int
}

// Regression is a logistic regression: the log odds of an observation of group r are Intercept + Groups[r] + the sum of
// Weights[i] (x[i] - Means[i]) / Deviations[i].
type Regression struct {
	Intercept  float64   `json:"intercept"`
	Weights    []float64 `json:"weights"`
	Means      []float64 `json:"means"`
	Deviations []float64 `json:"deviations"`
	// Groups has intercepts for each relation of Model.OwnIntercepts, one by distances, and last those that other
	// relations have in common. What holds of the facts of a relation (each product is two hops from its category) need
	// not hold of others.
	Groups []float64 `json:"groups"`
}

// size is the number of weights and the intercept.
const size = len(features) + 1

// ridge is the precision of the normal prior of weights and of the intercepts of groups.
const ridge = 1

// regress fits a regression to the examples outside of a fold by Newton's method. Weights with a sign that they must
// not have stay 0 (projected Newton: Bertsekas, 1982). It stops where ctx ends.
func regress(ctx context.Context, examples []example, left, groups int) *Regression {
	n := len(features)
	w := &Regression{Weights: make([]float64, n), Means: make([]float64, n), Deviations: make([]float64, n), Groups: make([]float64, groups)}
	kept := make([]example, 0, len(examples))
	for _, e := range examples {
		if e.fold != left {
			kept = append(kept, e)
		}
	}
	w.standardize(kept)
	const rounds, enough = 100, 1e-6
	for range rounds {
		if ctx.Err() != nil || !(w.step(kept) > enough) {
			break
		}
	}
	return w
}

// standardize sets means and deviations, shifts and scales the features of the examples by them, and begins with the
// rate of labeled ones.
func (w *Regression) standardize(examples []example) {
	// Weighted means, then deviations from them.
	total, labeled := 0.0, 0.0
	for i := range examples {
		total += float64(examples[i].weight)
		if examples[i].labeled {
			labeled += float64(examples[i].weight)
		}
	}
	for i := range examples {
		share := float64(examples[i].weight) / total
		for f, x := range examples[i].row {
			w.Means[f] += share * x
		}
	}
	for i := range examples {
		share := float64(examples[i].weight) / total
		for f, x := range examples[i].row {
			d := x - w.Means[f]
			w.Deviations[f] += share * d * d
		}
	}
	for f, variance := range w.Deviations {
		if w.Deviations[f] = math.Sqrt(variance); !(w.Deviations[f] > 1e-9) {
			w.Deviations[f] = 1 // the same for all
		}
	}
	for i := range examples {
		x := &examples[i].row
		for f := range x {
			x[f] = (x[f] - w.Means[f]) / w.Deviations[f]
		}
	}
	w.Intercept = math.Log((labeled + .5) / (total - labeled + .5))
}

// standardized returns the log odds of standardized features.
func (w *Regression) standardized(x *row, group int) float64 {
	sum := w.Intercept + w.Groups[group]
	for f, v := range w.Weights {
		sum += v * x[f]
	}
	return sum
}

func (w *Regression) logOdds(x *row, group int) float64 {
	sum := w.Intercept + w.Groups[group]
	for f, v := range w.Weights {
		sum += v * ((x[f] - w.Means[f]) / w.Deviations[f])
	}
	return sum
}

// slopes are the derivatives of the objective at some weights: the gradient, and the parts of the negative Hessian,
// which is diagonal between groups.
type slopes struct {
	gradient [size]float64
	hessian  [size * size]float64 // the upper triangle, by rows
	groups   []groupSlopes
}

// groupSlopes are the derivatives by a group's intercept: the first, the second, and the mixed ones with the weights
// and the intercept.
type groupSlopes struct {
	gradient, hessian float64
	mixed             [size]float64
}

// slopes returns the derivatives over standardized examples.
func (w *Regression) slopes(examples []example) *slopes {
	s := &slopes{groups: make([]groupSlopes, len(w.Groups))}
	var x [size]float64
	x[0] = 1
	for i := range examples {
		e := &examples[i]
		copy(x[1:], e.row[:])
		// The gradient of the log likelihood is label - probability, its curvature p (1 - p).
		g := 1 / (1 + math.Exp(-w.standardized(&e.row, e.group)))
		weight := float64(e.weight)
		residual, curvature := -weight*g, weight*g*(1-g)
		if e.labeled {
			residual = weight * (1 - g)
		}
		group := &s.groups[e.group]
		group.gradient += residual
		group.hessian += curvature
		for a, v := range x {
			s.gradient[a] += residual * v
			scaled := curvature * v
			group.mixed[a] += scaled
			row := s.hessian[a*size:][:size]
			for b := a; b < size; b++ {
				row[b] += scaled * x[b]
			}
		}
	}
	// The prior: a normal distribution of weights and groups.
	for a, v := range w.Weights {
		s.gradient[a+1] -= ridge * v
		s.hessian[(a+1)*size+a+1] += ridge
	}
	for r, v := range w.Groups {
		s.groups[r].gradient -= ridge * v
		s.groups[r].hessian += ridge
	}
	return s
}

// step takes a step of Newton's method and returns the largest change.
func (w *Regression) step(examples []example) float64 {
	s := w.slopes(examples)
	var held [size]bool // at 0, where the gradient leads to the other sign
	for f, feature := range features {
		held[f+1] = feature.sign != 0 && w.Weights[f] == 0 && s.gradient[f+1]*float64(feature.sign) <= 0
	}
	step, groups := s.solve(held)
	before := w.objective(examples)
	intercept, weights, old := w.Intercept, slices.Clone(w.Weights), slices.Clone(w.Groups)
	// A whole step may go too far where it begins far from the optimum, and where a weight is stopped at 0.
	for share := 1.0; share > 1e-9; share /= 2 {
		w.Intercept = intercept + share*step[0]
		largest := math.Abs(share * step[0])
		for f, d := range step[1:] {
			w.Weights[f] = weights[f] + share*d
			if sign := features[f].sign; w.Weights[f]*float64(sign) < 0 {
				w.Weights[f] = 0
			}
			largest = max(largest, math.Abs(w.Weights[f]-weights[f]))
		}
		for r, d := range groups {
			w.Groups[r] = old[r] + share*d
			largest = max(largest, math.Abs(share*d))
		}
		if w.objective(examples) >= before {
			return largest
		}
	}
	w.Intercept, w.Weights, w.Groups = intercept, weights, old
	return 0
}

// objective returns the log likelihood of standardized examples plus the log prior of the weights, up to a constant.
func (w *Regression) objective(examples []example) (sum float64) {
	for i := range examples {
		odds := w.standardized(&examples[i].row, examples[i].group)
		if examples[i].labeled {
			odds = -odds
		}
		sum -= float64(examples[i].weight) * (max(odds, 0) + math.Log1p(math.Exp(-math.Abs(odds))))
	}
	for _, v := range w.Weights {
		sum -= ridge * v * v / 2
	}
	for _, v := range w.Groups {
		sum -= ridge * v * v / 2
	}
	return sum
}

// solve returns the steps of the weights, of which some are held, and of the groups: the weights' steps solve what is
// left when groups are eliminated (Schur's complement).
func (s *slopes) solve(held [size]bool) (step [size]float64, groups []float64) {
	left, right := s.hessian, s.gradient
	// Eliminate the groups, whose block of the Hessian is diagonal.
	for i := range s.groups {
		g := &s.groups[i]
		for a := range size {
			right[a] -= g.mixed[a] * g.gradient / g.hessian
			for b := a; b < size; b++ {
				left[a*size+b] -= g.mixed[a] * g.mixed[b] / g.hessian
			}
		}
	}
	for a := range size {
		for b := a; b < size; b++ {
			if held[a] || held[b] {
				left[a*size+b] = 0
			}
		}
		if held[a] {
			left[a*size+a], right[a] = 1, 0
		}
	}
	// Positive definite, by the prior. Where rounding makes it none, the weights stay.
	var factors mat.Cholesky
	if factors.Factorize(mat.NewSymDense(size, left[:])) {
		_ = factors.SolveVecTo(mat.NewVecDense(size, step[:]), mat.NewVecDense(size, right[:])) // the error is a warning of rounding
	}
	// Then the groups follow from the weights' steps.
	groups = make([]float64, len(s.groups))
	for i := range s.groups {
		g := &s.groups[i]
		sum := g.gradient
		for a, d := range step {
			sum -= g.mixed[a] * d
		}
		groups[i] = sum / g.hessian
	}
	return step, groups
}
