package probability

import (
	"cmp"
	"slices"
	"sort"
)

// Block is a range of log odds, from From to the next block's From, with the observations that fell into it.
type Block struct {
	// From is not used by the first block, which has all lower log odds.
	From      float64 `json:"from"`
	Labeled   int     `json:"labeled"`
	Unlabeled int     `json:"unlabeled"`
}

// Curve has blocks of ascending log odds and ascending odds.
type Curve struct {
	// Weight is the mean number that an unlabeled observation counts as.
	Weight float64 `json:"weight"`
	Blocks []Block `json:"blocks"`
}

// odds returns the odds of being labeled in a block, with half an observation of each kind added, so that
// few observations give neither 0 nor infinite odds. With thinned observations, the lack of unlabeled ones
// means less, by Weight.
func (c Curve) odds(b Block) float64 {
	return (float64(b.Labeled) + .5) / (float64(b.Unlabeled) + .5*c.Weight)
}

// judged is an observation with its log odds, which stands for weight observations.
type judged struct {
	logOdds float64
	labeled bool
	weight  int
}

// newCurve returns the blocks of observations: pooled with their neighbors where odds do not ascend, first as counted,
// then drawn toward 1.
func newCurve(list []judged) (c Curve) {
	var weight, unlabeled int
	for _, j := range list {
		if !j.labeled {
			weight, unlabeled = weight+j.weight, unlabeled+1
		}
	}
	c.Weight = max(1, float64(weight)/float64(max(1, unlabeled)))
	for _, b := range counted(list) {
		c.Blocks = pool(c.Blocks, b, func(low, high Block) bool { return c.odds(low) < c.odds(high) })
	}
	return c
}

// counted returns the isotonic regression of observations, which it sorts (pool adjacent violators).
func counted(list []judged) (blocks []Block) {
	slices.SortFunc(list, func(a, b judged) int { return cmp.Compare(a.logOdds, b.logOdds) })
	for i := 0; i < len(list); {
		at := list[i].logOdds
		b := Block{From: at}
		if i > 0 {
			b.From = between(list[i-1].logOdds, at)
		}
		for ; i < len(list) && list[i].logOdds == at; i++ {
			if list[i].labeled {
				b.Labeled += list[i].weight
			} else {
				b.Unlabeled += list[i].weight
			}
		}
		blocks = pool(blocks, b, func(low, high Block) bool {
			return low.Labeled*high.Unlabeled < high.Labeled*low.Unlabeled
		})
	}
	return blocks
}

// between returns the middle of two log odds, where a block begins: other kernels, whose scores differ in their last
// bits, find observations in the same block.
func between(below, at float64) float64 {
	if middle := below + (at-below)/2; middle > below {
		return middle
	}
	return at
}

// pool appends a block, and pools the last ones while they do not ascend.
func pool(blocks []Block, b Block, ascend func(low, high Block) bool) []Block {
	blocks = append(blocks, b)
	for n := len(blocks); n > 1 && !ascend(blocks[n-2], blocks[n-1]); n = len(blocks) {
		blocks[n-2].Labeled += blocks[n-1].Labeled
		blocks[n-2].Unlabeled += blocks[n-1].Unlabeled
		blocks = blocks[:n-1]
	}
	return blocks
}

// block returns the index of the block of log odds.
func (c Curve) block(logOdds float64) int {
	return max(0, sort.Search(len(c.Blocks), func(i int) bool { return c.Blocks[i].From > logOdds })-1)
}

// totals returns the number of labeled and of unlabeled observations.
func (c Curve) totals() (labeled, unlabeled int) {
	for _, b := range c.Blocks {
		labeled, unlabeled = labeled+b.Labeled, unlabeled+b.Unlabeled
	}
	return labeled, unlabeled
}

// unlabeled returns the number of unlabeled observations of each block.
func (c Curve) unlabeled() []int {
	numbers := make([]int, len(c.Blocks))
	for i, b := range c.Blocks {
		numbers[i] = b.Unlabeled
	}
	return numbers
}

// meanLabeled returns the mean share of labeled observations around a labeled one, the constant c of Elkan and Noto.
func (c Curve) meanLabeled() float64 {
	sum := 0.0
	for _, b := range c.Blocks {
		odds := c.odds(b)
		sum += float64(b.Labeled) * odds / (1 + odds)
	}
	labeled, _ := c.totals()
	return sum / float64(labeled)
}

// surest is the highest probability of a fact: a block of some hundred candidates cannot tell .99 from 1.
const surest = .99

// probabilities returns a probability for each block: proportional to its odds, at most surest, and such that the
// probabilities of unlabeled observations, whose numbers are by block, add up to sum. If sum is too large for
// that, each is surest.
func (c Curve) probabilities(sum float64, unlabeled []int) []float64 {
	p, below := make([]float64, len(c.Blocks)), make([]float64, len(c.Blocks)+1)
	for i, b := range c.Blocks {
		below[i+1] = below[i] + float64(unlabeled[i])*c.odds(b)
	}
	// Blocks whose probability would exceed surest have surest, and all other blocks share the rest of the sum.
	whole := len(c.Blocks)
	for ; whole > 0 && sum*c.odds(c.Blocks[whole-1]) > surest*below[whole]; whole-- {
		p[whole-1] = surest
		sum -= surest * float64(unlabeled[whole-1])
	}
	for i := range whole {
		p[i] = sum * c.odds(c.Blocks[i]) / below[whole]
	}
	return p
}
