package probability

import (
	"cmp"
	"slices"
	"sort"
)

// Block is a range of log odds, from From to that of the next block, with the observations that fell into it.
type Block struct {
	// From is not used by the first block: that has all lower log odds, too.
	From      float64 `json:"from"`
	Labeled   int     `json:"labeled"`
	Unlabeled int     `json:"unlabeled"`
}

// odds returns the odds of being labeled, drawn a little toward 1: of few observations none are 0 or infinite.
func (b Block) odds() float64 { return (float64(b.Labeled) + .5) / (float64(b.Unlabeled) + .5) }

// Curve has blocks of ascending log odds and ascending odds.
type Curve []Block

// judged is an observation with its log odds, which counts as so many.
type judged struct {
	logOdds float64
	labeled bool
	weight  int
}

// newCurve returns the blocks of observations: pooled with their neighbors where odds do not ascend, first as counted, then drawn toward 1.
func newCurve(list []judged) (c Curve) {
	for _, b := range counted(list) {
		c = c.append(b, func(low, high Block) bool { return low.odds() < high.odds() })
	}
	return c
}

// counted returns the isotonic regression of observations, which it sorts (pool adjacent violators).
func counted(list []judged) (c Curve) {
	slices.SortFunc(list, func(a, b judged) int { return cmp.Compare(a.logOdds, b.logOdds) })
	for i := 0; i < len(list); {
		b := Block{From: list[i].logOdds}
		for ; i < len(list) && list[i].logOdds == b.From; i++ {
			if list[i].labeled {
				b.Labeled += list[i].weight
			} else {
				b.Unlabeled += list[i].weight
			}
		}
		c = c.append(b, func(low, high Block) bool {
			return low.Labeled*high.Unlabeled < high.Labeled*low.Unlabeled
		})
	}
	return c
}

// append appends a block, and pools the last ones while they do not ascend.
func (c Curve) append(b Block, ascend func(low, high Block) bool) Curve {
	c = append(c, b)
	for n := len(c); n > 1 && !ascend(c[n-2], c[n-1]); n = len(c) {
		c[n-2].Labeled += c[n-1].Labeled
		c[n-2].Unlabeled += c[n-1].Unlabeled
		c = c[:n-1]
	}
	return c
}

// block returns the index of the block of log odds.
func (c Curve) block(logOdds float64) int {
	return max(0, sort.Search(len(c), func(i int) bool { return c[i].From > logOdds })-1)
}

// totals returns the number of labeled and of unlabeled observations.
func (c Curve) totals() (labeled, unlabeled int) {
	for _, b := range c {
		labeled, unlabeled = labeled+b.Labeled, unlabeled+b.Unlabeled
	}
	return labeled, unlabeled
}

// meanLabeled returns the mean share of labeled observations around a labeled one, the constant c of Elkan and Noto.
func (c Curve) meanLabeled() float64 {
	sum := 0.0
	for _, b := range c {
		sum += float64(b.Labeled) * b.odds() / (1 + b.odds())
	}
	labeled, _ := c.totals()
	return sum / float64(labeled)
}

// probabilities returns that of each block: proportional to its odds, at most 1, and such that those of the unlabeled sum to a number. If
// that is more than there are, each is 1.
func (c Curve) probabilities(sum float64) []float64 {
	p, below := make([]float64, len(c)), make([]float64, len(c)+1)
	for i, b := range c {
		below[i+1] = below[i] + float64(b.Unlabeled)*b.odds()
	}
	// Blocks whose probability would be more than 1 have 1, and the rest is for the others.
	whole := len(c)
	for ; whole > 0 && sum*c[whole-1].odds() > below[whole]; whole-- {
		p[whole-1] = 1
		sum -= float64(c[whole-1].Unlabeled)
	}
	for i := range whole {
		p[i] = sum * c[i].odds() / below[whole]
	}
	return p
}
