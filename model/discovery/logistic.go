package discovery

import (
	"math"
	"slices"

	"tagnet/model/graph"
)

// Observation is a fact of a sample, as the regression sees it.
type Observation struct {
	// Fact identifies the observation: they are fitted in the order of facts.
	graph.Fact
	True bool
	Features
}

// Weights are a logistic regression: the log odds of a fact are Intercept + Relations[r] + the sum of
// Weights[i] (x[i] - Means[i]) / Deviations[i].
type Weights struct {
	Intercept  float64   `json:"intercept"`
	Weights    []float64 `json:"weights"`
	Means      []float64 `json:"means"`
	Deviations []float64 `json:"deviations"`
	// Relations has an intercept for each base relation, drawn toward 0.
	Relations []float64 `json:"relations"`
}

// LogOdds returns the log odds of a fact of a relation.
func (w *Weights) LogOdds(relation int32, x *Features) float64 {
	sum := w.Intercept + w.Relations[relation]
	for i, v := range w.Weights {
		sum += v * (x[i] - w.Means[i]) / w.Deviations[i]
	}
	return sum
}

// size is the number of unknowns: the intercept and the weights.
const size = len(FeatureNames) + 1

// ridge is the precision of the normal prior of weights and of the intercepts of relations.
const ridge = 1

// regress fits weights to a sample by Newton's method, in turns for the weights and for the intercepts of relations. False
// facts are a sample of all of them: each stands for negatives facts.
func regress(sample []Observation, relations int, negatives float64) *Weights {
	n := len(FeatureNames)
	w := &Weights{Weights: make([]float64, n), Means: make([]float64, n), Deviations: make([]float64, n), Relations: make([]float64, relations)}
	weight := func(o *Observation) float64 {
		if o.True {
			return 1
		}
		return negatives
	}
	w.standardize(sample, weight)
	const rounds, enough = 60, 1e-5
	for range rounds {
		if change := max(w.stepWeights(sample, weight), w.stepRelations(sample, weight)); !(change > enough) {
			break
		}
	}
	return w
}

// standardize sets means and deviations, and begins with the rate of true facts.
func (w *Weights) standardize(sample []Observation, weight func(*Observation) float64) {
	total, isTrue := 0.0, 0.0
	for i := range sample {
		total += weight(&sample[i])
		if sample[i].True {
			isTrue++
		}
		for f, x := range sample[i].Features {
			w.Means[f] += weight(&sample[i]) * x
		}
	}
	for f := range w.Means {
		w.Means[f] /= total
		for i := range sample {
			d := sample[i].Features[f] - w.Means[f]
			w.Deviations[f] += weight(&sample[i]) * d * d
		}
		if w.Deviations[f] = math.Sqrt(w.Deviations[f] / total); !(w.Deviations[f] > 1e-9) {
			w.Deviations[f] = 1 // the same for all
		}
	}
	rate := (isTrue + .5) / (total + 1)
	w.Intercept = math.Log(rate / (1 - rate))
}

// stepWeights takes a step of Newton's method for the intercept and the weights, and returns the largest change.
func (w *Weights) stepWeights(sample []Observation, weight func(*Observation) float64) float64 {
	const n = size
	var gradient, x [n]float64
	var hessian [n][n]float64
	for i := range sample {
		o := &sample[i]
		x[0] = 1
		for f, v := range o.Features {
			x[1+f] = (v - w.Means[f]) / w.Deviations[f]
		}
		residual, curvature := w.slope(o, weight(o))
		for a := range n {
			gradient[a] += residual * x[a]
			for b := range a + 1 {
				hessian[a][b] += curvature * x[a] * x[b]
			}
		}
	}
	for a := 1; a < n; a++ {
		gradient[a] -= ridge * w.Weights[a-1]
		hessian[a][a] += ridge
	}
	step := solve(&hessian, &gradient)
	intercept, weights := w.Intercept, slices.Clone(w.Weights)
	return w.climb(sample, weight, func(share float64) (largest float64) {
		w.Intercept = intercept + share*step[0]
		for a, d := range step[1:] {
			w.Weights[a] = weights[a] + share*d
		}
		for _, d := range step {
			largest = max(largest, math.Abs(share*d))
		}
		return largest
	})
}

// stepRelations takes a step for each relation's intercept, and returns the largest change.
func (w *Weights) stepRelations(sample []Observation, weight func(*Observation) float64) float64 {
	gradient, hessian := make([]float64, len(w.Relations)), make([]float64, len(w.Relations))
	for i := range sample {
		o := &sample[i]
		residual, curvature := w.slope(o, weight(o))
		gradient[o.Relation] += residual
		hessian[o.Relation] += curvature
	}
	relations := slices.Clone(w.Relations)
	return w.climb(sample, weight, func(share float64) (largest float64) {
		for r, before := range relations {
			d := share * (gradient[r] - ridge*before) / (hessian[r] + ridge)
			w.Relations[r] = before + d
			largest = max(largest, math.Abs(d))
		}
		return largest
	})
}

// climb moves by the largest of the shares 1, 1/2, 1/4, .. of a step that does not lower the objective, as a whole step may far from
// the optimum, and returns what move then returned: the largest change. Without such a share it moves nothing.
func (w *Weights) climb(sample []Observation, weight func(*Observation) float64, move func(share float64) float64) float64 {
	before := w.objective(sample, weight)
	for share := 1.0; share > 1e-6; share /= 2 {
		if largest := move(share); w.objective(sample, weight) >= before {
			return largest
		}
	}
	return move(0)
}

// objective returns the log likelihood of a sample and that of the weights' prior, up to a constant.
func (w *Weights) objective(sample []Observation, weight func(*Observation) float64) (sum float64) {
	for i := range sample {
		o := &sample[i]
		odds := w.LogOdds(o.Relation, &o.Features)
		if o.True {
			odds = -odds
		}
		sum -= weight(o) * (max(odds, 0) + math.Log1p(math.Exp(-math.Abs(odds))))
	}
	for _, v := range w.Weights {
		sum -= ridge * v * v / 2
	}
	for _, v := range w.Relations {
		sum -= ridge * v * v / 2
	}
	return sum
}

// slope returns the derivative of an observation's log likelihood by its log odds, and the negative second one.
func (w *Weights) slope(o *Observation, weight float64) (residual, curvature float64) {
	p := 1 / (1 + math.Exp(-w.LogOdds(o.Relation, &o.Features)))
	residual = -weight * p
	if o.True {
		residual = weight * (1 - p)
	}
	return residual, weight * p * (1 - p)
}

// solve returns the solution of a symmetric positive definite system, of which the lower triangle is given, by Cholesky's
// decomposition.
func solve(a *[size][size]float64, b *[size]float64) (x [size]float64) {
	for i := range size {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= a[i][k] * a[j][k]
			}
			if i > j {
				a[i][j] = sum / a[j][j]
			} else {
				a[i][i] = math.Sqrt(max(sum, 1e-12))
			}
		}
	}
	for i := range size {
		x[i] = b[i]
		for k := range i {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	for i := size - 1; i >= 0; i-- {
		for k := i + 1; k < size; k++ {
			x[i] -= a[k][i] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}
