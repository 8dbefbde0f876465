package probability

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCurveIsIsotonic compares with the formula of the isotonic regression: the share at i is the highest over j <= i
// of the lowest over k >= i of the share of all from j to k.
func TestCurveIsIsotonic(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		const levels = 12
		var counts [levels]Block
		var list []judged
		for i := range levels {
			counts[i].From = float64(i)
			for range random.IntN(30) {
				j := judged{float64(i), random.IntN(levels) < i, 1}
				list = append(list, j)
				if j.labeled {
					counts[i].Labeled++
				} else {
					counts[i].Unlabeled++
				}
			}
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		share := func(j, k int) float64 {
			labeled, all := 0, 0
			for _, b := range counts[j : k+1] {
				labeled, all = labeled+b.Labeled, all+b.Labeled+b.Unlabeled
			}
			return float64(labeled) / float64(all)
		}
		c := counted(list)
		for i := range counts {
			if counts[i].Labeled+counts[i].Unlabeled == 0 {
				continue
			}
			want := 0.0
			for j := range i + 1 {
				least := 1.0
				for k := i; k < levels; k++ {
					least = min(least, share(j, k))
				}
				want = max(want, least)
			}
			b := c[Curve{Blocks: c}.block(float64(i))]
			if got := float64(b.Labeled) / float64(b.Labeled+b.Unlabeled); !(math.Abs(got-want) <= 1e-12) {
				t.Fatalf("level %d of %v: share %g, want %g", i, counts, got, want)
			}
		}
		if err := newCurve(list).check(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFewThinnedAtTheTop checks that labeled observations beside which thinned ones may lie unseen
// are not surer for it.
func TestFewThinnedAtTheTop(t *testing.T) {
	t.Parallel()
	list := []judged{{9, true, 1}, {9, true, 1}}
	for i := range 100 {
		list = append(list, judged{8, i < 90, 40})
		if list[len(list)-1].labeled {
			list[len(list)-1].weight = 1
		}
	}
	c := newCurve(list)
	if c.Weight != 40 {
		t.Errorf("the mean weight is %g, want 40", c.Weight)
	}
	if len(c.Blocks) != 1 {
		t.Errorf("two facts at the top have a block of their own: %v", c)
	}
}

// TestFewAtTheTop checks that a few labeled observations at the top do not get odds above those of many below.
func TestFewAtTheTop(t *testing.T) {
	t.Parallel()
	list := []judged{{9, true, 1}}
	for i := range 100 {
		list = append(list, judged{8, i > 0, 1}, judged{1, false, 1})
	}
	want := Curve{Weight: 1, Blocks: []Block{{From: 1, Unlabeled: 100}, {From: 4.5, Labeled: 100, Unlabeled: 1}}}
	if diff := cmp.Diff(want, newCurve(list)); diff != "" {
		t.Error(diff)
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	c := Curve{Weight: 1, Blocks: []Block{{From: -1}, {From: 2}, {From: 5}}}
	for logOdds, want := range map[float64]int{-9: 0, -1: 0, 1.9: 0, 2: 1, 4: 1, 5: 2, 99: 2} {
		if got := c.block(logOdds); got != want {
			t.Errorf("log odds %g: block %d, want %d", logOdds, got, want)
		}
	}
}

// TestExample is that of the package's documentation, but for what odds are drawn toward 1.
func TestExample(t *testing.T) {
	t.Parallel()
	c := Curve{Weight: 1, Blocks: []Block{{From: 0, Labeled: 20, Unlabeled: 990}, {From: 1, Labeled: 80, Unlabeled: 10}}}
	p := c.probabilities(.5*50, c.unlabeled())
	if !(p[1] == surest && math.Abs(p[0]-(25-10*surest)/990) <= 1e-12) {
		t.Errorf("probabilities %v, want .0153 and .99", p)
	}
}

// TestProbabilities checks sums, and that probabilities ascend and are at most the surest.
func TestProbabilities(t *testing.T) {
	t.Parallel()
	c := Curve{Weight: 1, Blocks: []Block{{Labeled: 0, Unlabeled: 500}, {Labeled: 20, Unlabeled: 200}, {Labeled: 30, Unlabeled: 10},
		{Labeled: 50, Unlabeled: 0}}}
	for _, sum := range []float64{.001, 1, 20, 100, 709.5, 710, 1e6} {
		got, before := 0.0, 0.0
		for i, p := range c.probabilities(sum, c.unlabeled()) {
			if !(p >= before && p <= surest) {
				t.Errorf("sum %g: probability %g after %g", sum, p, before)
			}
			before = p
			got += p * float64(c.Blocks[i].Unlabeled)
		}
		if want := min(sum, surest*710); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("sum %g, want %g", got, want)
		}
	}
}
