package probability

import "math"

// Judgment is what a person said of a fact, with its probability at each point of a grid of presumptions.
type Judgment struct {
	True bool
	// P has the fact's probability for each presumption.
	P []float64
	// Weight is one over the fact's chance to be drawn, up to a factor that all facts of a sample have in common, or 0
	// of a fact that nobody drew.
	Weight float64
}

// Posterior is what judgments tell of a share that is missing.
type Posterior struct {
	// Share is the likeliest one. It is between Low and High with a probability of 95%.
	Share, Low, High float64
	// Judged is the number of judgments that tell.
	Judged int
}

// shares is a grid of shares that may be missing: from .001 to 1, a twentieth apart.
var shares = func() (grid []float64) {
	for share := .001; share < 1; share *= 1.05 {
		grid = append(grid, share)
	}
	return append(grid, 1)
}()

// Shares returns a grid of shares that may be missing, ascending.
func Shares() []float64 { return shares }

// PosteriorOf returns what judgments tell of the share of Shares that is missing, of which all are as likely as
// their prior, by logarithm, says; nil says that all logarithms of shares are. Each judgment counts by its weight,
// relative to the mean of a sample's, so that a sample that prefers some facts tells of all that it was drawn from.
func PosteriorOf(judgments []Judgment, prior func(logarithm float64) float64) Posterior {
	log := make([]float64, len(shares))
	for i := range log {
		if prior != nil {
			log[i] = prior(math.Log(shares[i]))
		}
		log[i] += likelihood(judgments, i)
	}
	best := 0
	for i := range log {
		if log[i] > log[best] {
			best = i
		}
	}
	p := Posterior{Share: shares[best], Judged: len(judgments)}
	density, sum := make([]float64, len(log)), 0.
	for i := range log {
		density[i] = math.Exp(log[i] - log[best])
		sum += density[i]
	}
	p.Low, p.High = quantile(density, sum, .025), quantile(density, sum, .975)
	return p
}

// quantile returns the share below which a part of the mass of a density on the grid lies.
func quantile(density []float64, sum, part float64) float64 {
	below := 0.
	for i, d := range density {
		if below += d; below >= part*sum {
			return shares[i]
		}
	}
	return 1
}

// unsure keeps one judgment from deciding: probabilities near 0 and 1 are not that sure.
const unsure = .005

// likelihood returns the logarithm of the likelihood of judgments at a point of the grid.
func likelihood(judgments []Judgment, at int) (log float64) {
	drawn, weights := 0., 0.
	for _, j := range judgments {
		if j.Weight > 0 {
			drawn, weights = drawn+1, weights+j.Weight
		}
	}
	for _, j := range judgments {
		p := min(max(j.P[at], unsure), 1-unsure)
		if !j.True {
			p = 1 - p
		}
		weight := 1.
		if j.Weight > 0 {
			weight = j.Weight * drawn / weights
		}
		log += weight * math.Log(p)
	}
	return log
}
