package discovery

import "math"

// Features are what a Model looks at.
type Features [len(FeatureNames)]float64

// FeatureNames describe the features, as the file of a model lists them.
var FeatureNames = [...]string{
	"lower score", "score asking tails", "score asking heads", "not listed asking tails", "not listed asking heads",
	"share asking tails", "share asking heads", "habits of the head", "habits of the tail",
	"other tails of the head", "other heads of the tail", "the head has tails", "the tail has heads",
	"facts of the head", "facts of the tail", "one hop", "two hops", "three hops",
}

// Features returns those of a fact. A score that is not known, since it is not listed, counts as a low one; two features say so.
func (h *Habits) Features(f *Fact) Features {
	const (
		most, none = 20, -20 // of a score
		leastShare = -12
		mostHabits = 15
	)
	inverse := f.Relation + int32(h.relations/2)
	side := func(s Side) (score, share, missing float64) {
		if s.Position == 0 {
			return none, leastShare, 1
		}
		return clip(float64(s.Score), none, most), max(float64(s.Share), leastShare), 0
	}
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	tails, tailShare, noTails := side(f.Tails)
	heads, headShare, noHeads := side(f.Heads)
	headOf, headAll := h.Degrees(f.Head, f.Relation)
	tailOf, tailAll := h.Degrees(f.Tail, inverse)
	return Features{
		min(tails, heads), tails, heads, noTails, noHeads, tailShare, headShare,
		clip(h.LogOdds(f.Head, f.Relation), -mostHabits, mostHabits), clip(h.LogOdds(f.Tail, inverse), -mostHabits, mostHabits),
		math.Log1p(float64(headOf)), math.Log1p(float64(tailOf)), is(headOf > 0), is(tailOf > 0),
		math.Log1p(float64(headAll)), math.Log1p(float64(tailAll)),
		is(f.Distance == 1), is(f.Distance == 2), is(f.Distance == 3),
	}
}

// Lower is the score of a fact without a model: the lower one of its two, as both queries have to find it. Where one did not list it,
// it comes after all that both listed.
func (f *Fact) Lower() float64 {
	const most = widest / 4
	score := func(s Side) float64 { return clip(float64(s.Score), -most, most) }
	switch {
	case f.Tails.Position == 0:
		return score(f.Heads) - 2*most
	case f.Heads.Position == 0:
		return score(f.Tails) - 2*most
	}
	return min(score(f.Tails), score(f.Heads)) + most
}
