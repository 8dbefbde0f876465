package probability

import (
	"math"

	"tagnet/model/graph"
)

// features are the names of the regression's features, as its file lists them, each with the sign that its weight must
// have; 0 is either. Signs hold the promise that a higher score, or a better rank, never makes a fact less likely.
var features = [...]struct {
	name string
	sign int
}{
	{"lower score", 1}, {"score asking tails", 1}, {"score asking heads", 1},
	{"rank asking tails", -1}, {"rank asking heads", -1}, {"beyond asking tails", -1}, {"beyond asking heads", -1},
	{"habits of a head with other tails", 0}, {"habits of a tail with other heads", 0},
	{"habits of a head without other tails", 0}, {"habits of a tail without other heads", 0},
	{"other tails of the head", 0}, {"other heads of the tail", 0}, {"the head has other tails", 0}, {"the tail has other heads", 0},
	{"usual number of tails", 0}, {"usual number of heads", 0},
	{"other facts of the head", 0}, {"other facts of the tail", 0}, {"one hop", 0}, {"two hops", 0}, {"three hops", 0},
}

type row [len(features)]float64

func names() []string {
	list := make([]string, len(features))
	for i, f := range features {
		list[i] = f.name
	}
	return list
}

func (s *Surroundings) features(o *Observation, k int) row {
	const mostHabits = 15
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	head, tail := s.ends(o.Fact)
	habit := func(e end) float64 { return min(max(e.habit(), -mostHabits), mostHabits) }
	tails, heads := squash(o.Tails.Score), squash(o.Heads.Score)
	tailRank, tailBeyond := rank(o.Tails.Rank, k)
	headRank, headBeyond := rank(o.Heads.Rank, k)
	otherTails, otherHeads := head.answers(), tail.answers()
	// Habits estimate whether an entity has the relation at all, which is known if it has another answer.
	return row{
		min(tails, heads), tails, heads, tailRank, headRank, is(tailBeyond), is(headBeyond),
		habit(head) * is(otherTails > 0), habit(tail) * is(otherHeads > 0), habit(head) * is(otherTails == 0), habit(tail) * is(otherHeads == 0),
		math.Log1p(float64(otherTails)), math.Log1p(float64(otherHeads)), is(otherTails > 0), is(otherHeads > 0),
		head.usual(), tail.usual(), math.Log1p(float64(head.degree())), math.Log1p(float64(tail.degree())),
		is(o.Hops == 1), is(o.Hops == 2), is(o.Hops == 3),
	}
}

// ends returns the features of a fact's head and tail.
func (s *Surroundings) ends(f graph.Fact) (head, tail end) {
	return s.end(f.Head, f.Relation, f.Tail), s.end(f.Tail, s.graph.Inverse(f.Relation), f.Head)
}

// squash returns a number that rises with a score, and grows by its logarithm where it is far from 0: scores of sure
// facts differ by much and mean nearly the same.
func squash(score float32) float64 {
	const width = 10
	return width * math.Asinh(float64(score)/width)
}

// rank returns the logarithm of a rank, which is cut at k + 1.
func rank(n int64, k int) (logarithm float64, beyond bool) {
	if n > int64(k) {
		return math.Log(float64(k + 1)), true
	}
	return math.Log(float64(n)), false
}
