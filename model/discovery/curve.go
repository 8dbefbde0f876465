package discovery

import (
	"math"
	"slices"
)

// Histogram counts true and false facts by their log odds, so finely that their order is kept. Its zero value is empty.
type Histogram struct {
	// True and False are by bin; see bin.
	True, False []int64
}

// Bins of a histogram: steps of log odds from the lowest to the highest that are told apart.
const (
	stepsPerUnit = 64
	widest       = 40
	histogram    = 2 * widest * stepsPerUnit
)

// bin returns the bin of log odds.
func bin(logOdds float64) int {
	return int(clip((logOdds+widest)*stepsPerUnit, 0, histogram-1))
}

// Add counts a fact.
func (h *Histogram) Add(logOdds float64, isTrue bool) {
	if h.True == nil {
		h.True, h.False = make([]int64, histogram), make([]int64, histogram)
	}
	if isTrue {
		h.True[bin(logOdds)]++
	} else {
		h.False[bin(logOdds)]++
	}
}

// Merge adds the facts of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	if other.True == nil {
		return
	}
	if h.True == nil {
		h.True, h.False = slices.Clone(other.True), slices.Clone(other.False)
		return
	}
	for i := range other.True {
		h.True[i] += other.True[i]
		h.False[i] += other.False[i]
	}
}

// Curve turns log odds into probabilities that hold: blocks of ascending log odds, each with the share of true facts in it.
type Curve []Block

// Block is a range of log odds from From to that of the next block.
type Block struct {
	From  float64 `json:"from"`
	True  int64   `json:"true"`
	Facts int64   `json:"facts"`
}

// probability returns the share of true facts of a block, drawn a little toward one half: of few facts no share is 0 or 1.
func (b Block) probability() float64 { return (float64(b.True) + .5) / (float64(b.Facts) + 1) }

// fewest is the number of facts of a block: the share of true ones among few, chosen as the highest, would be too high.
const fewest = 50

// Curve returns the shares of true facts that do not fall with the log odds and are as near as can be to those counted: bins are
// pooled with their neighbors where they do not ascend. The highest fewest facts are one bin, so that they are not pooled with all that the
// next block has.
func (h *Histogram) Curve() Curve {
	var c Curve
	top := h.First(fewest)
	for i := range h.True {
		facts := h.True[i] + h.False[i]
		if facts == 0 {
			continue
		}
		from := float64(i)/stepsPerUnit - widest
		if from == top {
			facts, isTrue := h.From(top)
			c = c.append(Block{From: from, True: isTrue, Facts: facts})
			break
		}
		c = c.append(Block{From: from, True: h.True[i], Facts: facts})
	}
	if len(c) > 0 {
		c[0].From = -math.MaxFloat64
	}
	return c.smooth()
}

// append appends a block, and pools the last ones while their shares do not ascend.
func (c Curve) append(b Block) Curve {
	c = append(c, b)
	for len(c) > 1 {
		last, before := c[len(c)-1], c[len(c)-2]
		if last.True*before.Facts > before.True*last.Facts {
			break
		}
		c = c[:len(c)-1]
		c[len(c)-1].True += last.True
		c[len(c)-1].Facts += last.Facts
	}
	return c
}

// smooth pools blocks of fewer facts than fewest, from the highest down, and neighbors whose drawn shares then do not ascend.
func (c Curve) smooth() Curve {
	var out Curve // descending
	for _, b := range slices.Backward(c) {
		if n := len(out); n > 0 && (out[n-1].Facts < fewest || out[n-1].probability() <= b.probability()) {
			b.True += out[n-1].True
			b.Facts += out[n-1].Facts
			out[n-1] = b
			continue
		}
		out = append(out, b)
	}
	slices.Reverse(out)
	return out
}

// Probability returns the share of true facts among those with such log odds.
func (c Curve) Probability(logOdds float64) float64 {
	at := float64(bin(logOdds))/stepsPerUnit - widest
	i, found := slices.BinarySearchFunc(c, at, func(b Block, at float64) int {
		switch {
		case b.From < at:
			return -1
		case b.From > at:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	return c[max(i, 0)].probability()
}

// Total returns the number of facts, and of true ones among them.
func (h *Histogram) Total() (facts, isTrue int64) {
	for i := range h.True {
		facts += h.True[i] + h.False[i]
		isTrue += h.True[i]
	}
	return facts, isTrue
}

// Step returns the lowest log odds that a histogram does not tell from some.
func Step(logOdds float64) float64 { return float64(bin(logOdds))/stepsPerUnit - widest }

// Each calls a function with the facts of each bin, by falling log odds.
func (h *Histogram) Each(each func(logOdds float64, facts, isTrue int64)) {
	for i := len(h.True) - 1; i >= 0; i-- {
		if facts := h.True[i] + h.False[i]; facts > 0 {
			each(float64(i)/stepsPerUnit-widest, facts, h.True[i])
		}
	}
}

// Cut returns the lowest log odds of a list that ends as soon as it has most facts that are not held out, or before the first one that
// is not wanted.
func (h *Histogram) Cut(most int64, wanted func(logOdds float64) bool) float64 {
	from, facts, ended := math.MaxFloat64, int64(0), false
	h.Each(func(logOdds float64, all, isTrue int64) {
		ended = ended || facts >= most || !wanted(logOdds)
		if !ended {
			from, facts = logOdds, facts+all-isTrue
		}
	})
	return from
}

// First returns the lowest log odds of the first facts, true ones included, at least n of them.
func (h *Histogram) First(n int64) float64 {
	from, facts := math.MaxFloat64, int64(0)
	h.Each(func(logOdds float64, all, _ int64) {
		if facts < n {
			from, facts = logOdds, facts+all
		}
	})
	return from
}

// From returns how many facts have at least such log odds, and how many of them are true.
func (h *Histogram) From(logOdds float64) (facts, isTrue int64) {
	h.Each(func(at float64, all, of int64) {
		if at >= logOdds {
			facts, isTrue = facts+all, isTrue+of
		}
	})
	return facts, isTrue
}
