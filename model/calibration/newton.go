package calibration

import "math"

// point is a candidate whose score is standardized, in a relation or in the whole.
type point struct {
	x    float64
	true bool
}

// prior is a normal prior of a line over standardized scores. Its precision is positive definite.
type prior struct {
	mean      Line
	precision matrix
}

// matrix is symmetric, [aa ab; ab bb], for intercept and slope.
type matrix struct{ aa, ab, bb float64 }

// solve returns the solution x of matrix x = v.
func (m matrix) solve(v Line) Line {
	d := m.aa*m.bb - m.ab*m.ab
	return Line{(m.bb*v.Intercept - m.ab*v.Slope) / d, (m.aa*v.Slope - m.ab*v.Intercept) / d}
}

// times returns the matrix times a number.
func (m matrix) times(f float64) matrix { return matrix{f * m.aa, f * m.ab, f * m.bb} }

// apply returns the matrix times v.
func (m matrix) apply(v Line) Line {
	return Line{m.aa*v.Intercept + m.ab*v.Slope, m.ab*v.Intercept + m.bb*v.Slope}
}

// The end of Newton's method. The objective is convex, and a step that does not lower it is halved, so
// that it ends far before maxSteps.
const (
	maxSteps  = 100
	tolerance = 1e-12 // of the decrease that a step promises, relative to the objective
)

// fit returns the line that minimizes the log loss of the points plus the penalty
// (line - mean)' precision (line - mean) / 2, among those with a slope of 0 or more. The penalty makes the minimum unique and
// finite, also where a score separates true from false candidates, or all are of one kind.
func fit(points []point, p prior) Line {
	line := minimize(points, p, p.mean, false)
	if line.Slope < 0 {
		// The objective is convex: with the constraint the minimum lies on its border.
		line = minimize(points, p, Line{Intercept: p.mean.Intercept}, true)
	}
	return line
}

// minimize returns the minimum of fit without the constraint, or with the slope fixed at that of start.
func minimize(points []point, p prior, start Line, fixed bool) Line {
	line := start
	loss, gradient, hessian := objective(points, p, line)
	for range maxSteps {
		step := hessian.solve(gradient)
		if fixed {
			step = Line{Intercept: gradient.Intercept / hessian.aa}
		}
		promised := step.Intercept*gradient.Intercept + step.Slope*gradient.Slope
		if !(promised > tolerance*(1+math.Abs(loss))) {
			break
		}
		for {
			next := Line{line.Intercept - step.Intercept, line.Slope - step.Slope}
			nextLoss, nextGradient, nextHessian := objective(points, p, next)
			if nextLoss <= loss {
				line, loss, gradient, hessian = next, nextLoss, nextGradient, nextHessian
				break
			}
			step.Intercept, step.Slope = step.Intercept/2, step.Slope/2
			if next == line { // the step is below the precision of the numbers
				return line
			}
		}
	}
	return line
}

// objective returns the penalized log loss of a line, its gradient and its Hessian.
func objective(points []point, p prior, l Line) (loss float64, gradient Line, hessian matrix) {
	distance := Line{l.Intercept - p.mean.Intercept, l.Slope - p.mean.Slope}
	gradient = p.precision.apply(distance)
	loss = (distance.Intercept*gradient.Intercept + distance.Slope*gradient.Slope) / 2
	hessian = p.precision
	for _, point := range points {
		z := l.logOdds(point.x)
		q := Sigmoid(z)
		residual := q
		if point.true {
			residual, z = q-1, -z
		}
		loss += softplus(z)
		gradient.Intercept += residual
		gradient.Slope += residual * point.x
		w := q * (1 - q)
		hessian.aa += w
		hessian.ab += w * point.x
		hessian.bb += w * point.x * point.x
	}
	return loss, gradient, hessian
}

// softplus returns log(1 + exp(x)), the log loss of a false candidate with log odds x.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
