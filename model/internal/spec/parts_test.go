package spec

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/hop"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

func TestUpdateVectorByHand(t *testing.T) {
	t.Parallel()
	set := []member{{[]float64{2}, 1}, {[]float64{-1}, 3}, {[]float64{5}, 1}}
	// The set stands for 8 messages: mean (2 - 3 + 5)/8, mean of squares (4 + 3 + 25)/8.
	r := reduction{aggregate: configuration.AggregatePNA, divisor: 8, scalers: [3]float64{1, 2, 0.5}}
	std := math.Sqrt(4 - 0.25)
	want := []float64{.5, 1, .25, 5, 10, 2.5, -1, -2, -.5, std, 2 * std, std / 2}
	for i, got := range r.apply(set) {
		near(t, "entry of pna", got, want[i])
	}
	byHand := map[string]float64{configuration.AggregateSum: 4, configuration.AggregateMean: .5, configuration.AggregateMax: 5}
	for _, aggregate := range choices("aggregate") {
		want, ok := byHand[aggregate]
		if aggregate == configuration.AggregatePNA {
			continue
		}
		r.aggregate = aggregate
		if got := r.apply(set); !ok || len(got) != 1 || got[0] != want {
			t.Errorf("%s is %v, want the value by hand: %g, %t", aggregate, got, want, ok)
		}
	}
}

func TestScalers(t *testing.T) {
	t.Parallel()
	r := newReduction(configuration.AggregatePNA, 2, math.Log(9))
	for i, want := range []float64{1, .5, 2} {
		near(t, "scaler", r.scalers[i], want)
	}
	if isolated := newReduction(configuration.AggregatePNA, 0, 1); isolated.scalers != [3]float64{1, 0, 100} || isolated.divisor != 1 {
		t.Errorf("without edges: %+v", isolated)
	}
}

// TestCopiesAreMembers checks that a member with three copies equals three members.
func TestCopiesAreMembers(t *testing.T) {
	t.Parallel()
	a, b := []float64{.5, -2}, []float64{1.5, 1}
	for _, aggregate := range choices("aggregate") {
		r := newReduction(aggregate, 4, 1)
		once, thrice := []member{{a, 1}, {b, 3}}, []member{{a, 1}, {b, 1}, {b, 1}, {b, 1}}
		update := r.apply(once)
		for i, want := range r.apply(thrice) {
			near(t, aggregate, update[i], want)
		}
		got, want := r.backward(once, update), r.backward(thrice, update)
		for j := range a {
			near(t, aggregate+" gradient", got[0][j], want[0][j])
			near(t, aggregate+" gradient of copies", got[1][j], want[1][j]+want[2][j]+want[3][j])
		}
	}
}

func TestFirstOfEqualsTakesTheGradient(t *testing.T) {
	t.Parallel()
	r := newReduction(configuration.AggregateMax, 2, 1)
	gradients := r.backward([]member{{[]float64{1, 0}, 1}, {[]float64{1, 2}, 2}, {[]float64{1, 2}, 1}}, []float64{7, 5})
	for i, want := range [][]float64{{7, 0}, {0, 5}, {0, 0}} {
		if !slices.Equal(gradients[i], want) {
			t.Errorf("gradient of member %d is %v, want %v", i, gradients[i], want)
		}
	}
}

func TestRotatEIsAComplexProduct(t *testing.T) {
	t.Parallel()
	x, w := []complex128{1 + 2i, -3 + 1i}, []complex128{2 - 1i, 0.5 + 4i}
	split := func(z []complex128) []float64 {
		return []float64{real(z[0]), real(z[1]), imag(z[0]), imag(z[1])}
	}
	want := split([]complex128{x[0] * w[0], x[1] * w[1]})
	if got := message(configuration.MessageRotatE, split(x), split(w)); !slices.Equal(got, want) {
		t.Errorf("message is %v, want %v", got, want)
	}
}

func TestDistances(t *testing.T) {
	t.Parallel()
	// A path 0-1-2-3-4, a loop at 0, a shortcut 0-2, and 5 without edges.
	g, err := graph.New(6, 1, []graph.Fact{{Head: 0, Tail: 1}, {Head: 2, Tail: 1}, {Head: 2, Tail: 3}, {Head: 3, Tail: 4}, {Head: 0, Tail: 0},
		{Head: 2, Tail: 0}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		hops  int
		query graph.Query
		want  []uint8
	}{
		{3, graph.Query{}, []uint8{0, 1, 1, 2, 3, hop.Unreached}},
		{2, graph.Query{}, []uint8{0, 1, 1, 2, hop.Unreached, hop.Unreached}},
		{9, without(graph.Fact{Head: 2, Tail: 0}, false), []uint8{0, 1, 2, 3, 4, hop.Unreached}},
	} {
		if got := Distances(g, 0, test.hops, test.query); !slices.Equal(got, test.want) {
			t.Errorf("%d hops, %+v: %v, want %v", test.hops, test.query, got, test.want)
		}
	}
}

func TestLossByHand(t *testing.T) {
	t.Parallel()
	scores := []float64{1, -1, 0.5, 3}
	softplus := func(x float64) float64 { return math.Log(1 + math.Exp(x)) }
	// Entity 2 is drawn twice.
	c := configuration.Default()
	c.AdversarialTemperature = 0
	loss, gradient := Loss(c, scores, 0, []int32{2, 1, 2})
	near(t, "loss", loss, (softplus(-1)+(softplus(.5)*2+softplus(-1))/3)/2)
	for o := range scores {
		near(t, "gradient", gradient[o], difference(scores, o, func(s []float64) float64 {
			loss, _ := Loss(c, s, 0, []int32{2, 1, 2})
			return loss
		}))
	}
	// With a temperature, negatives of high score weigh more, and the weights are constants.
	c.AdversarialTemperature = .5
	e1, e2 := math.Exp(scores[1]/.5), math.Exp(scores[2]/.5)
	w1, w2 := e1/(e1+e2), e2/(e1+e2)
	loss, gradient = Loss(c, scores, 0, []int32{1, 2})
	near(t, "loss", loss, (softplus(-1)+w1*softplus(-1)+w2*softplus(.5))/2)
	near(t, "gradient", gradient[1], w1/(1+math.Exp(1))/2)
	near(t, "gradient", gradient[2], w2/(1+math.Exp(-.5))/2)
	near(t, "gradient", gradient[3], 0)
}

func TestSoftmaxLossByHand(t *testing.T) {
	t.Parallel()
	scores, negatives := []float64{1, -1, 0.5, 3}, []int32{2, 1, 2}
	c := configuration.Default()
	c.Loss = configuration.LossSoftmax
	loss, gradient := Loss(c, scores, 0, negatives)
	sum := math.Exp(1) + 2*math.Exp(.5) + math.Exp(-1) // entity 2 is drawn twice
	near(t, "loss", loss, math.Log(sum)-1)
	for o, want := range []float64{math.Exp(1)/sum - 1, math.Exp(-1) / sum, 2 * math.Exp(.5) / sum, 0} {
		near(t, "gradient", gradient[o], want)
		near(t, "gradient", gradient[o], difference(scores, o, func(s []float64) float64 {
			loss, _ := Loss(c, s, 0, negatives)
			return loss
		}))
	}
	// An answer that is drawn as a negative, too, is another term.
	loss, gradient = Loss(c, scores, 0, []int32{0, 3})
	sum = 2*math.Exp(1) + math.Exp(3)
	near(t, "loss", loss, math.Log(sum)-1)
	near(t, "gradient", gradient[0], 2*math.Exp(1)/sum-1)
	// Scores that are all equal have the loss of which trainings that diverge are told.
	c.Negatives = 3
	loss, _ = Loss(c, []float64{7, 7, 7, 7}, 0, []int32{1, 2, 3})
	near(t, "loss", loss, c.EqualScores())
	c.Loss = configuration.LossBinary
	loss, _ = Loss(c, []float64{0, 0, 0, 0}, 0, []int32{1, 2, 3})
	near(t, "loss", loss, c.EqualScores())
}

func TestLossOfLargeScores(t *testing.T) {
	t.Parallel()
	loss, gradient := Loss(configuration.Default(), []float64{-1e4, 1e4}, 0, []int32{1})
	if loss != 1e4 || gradient[0] != -.5 || gradient[1] != .5 {
		t.Errorf("loss %g and gradient %v, want 10000 and [-0.5 0.5]", loss, gradient)
	}
	c := configuration.Default()
	c.Loss = configuration.LossSoftmax
	loss, gradient = Loss(c, []float64{-1e4, 1e4}, 0, []int32{1})
	if loss != 2e4 || gradient[0] != -1 || gradient[1] != 1 {
		t.Errorf("softmax: loss %g and gradient %v, want 20000 and [-1 1]", loss, gradient)
	}
}

// difference is the central difference of f by the score of o, good to about 1e-11.
func difference(scores []float64, o int, f func([]float64) float64) float64 {
	const step = 1e-4
	at := func(distance float64) float64 {
		moved := slices.Clone(scores)
		moved[o] += distance
		return f(moved)
	}
	// The formula is of fourth order, which allows a large step.
	return (8*(at(step)-at(-step)) - (at(2*step) - at(-2*step))) / (12 * step)
}

func TestRawRankPessimistic(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, test := range []struct {
		scores []float64
		answer int32
		want   int64
	}{
		{[]float64{1, 3, 2}, 1, 1},
		{[]float64{1, 3, 2}, 0, 3},
		{[]float64{2, 2, 2}, 1, 3},
		{[]float64{0, nan, 2}, 1, 3},
		{[]float64{0, nan, 2}, 2, 2},
	} {
		if got := RawRankPessimistic(test.scores, test.answer); got != test.want {
			t.Errorf("rank of %d in %v is %d, want %d", test.answer, test.scores, got, test.want)
		}
	}
}

func TestNewRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	c := small()
	g := sampleGraph(t, 1, 14, 2)
	fits := parameters.Layout(c, g.RelationCount())
	bad := c
	bad.Layers = 0
	if _, err := New(g, bad, parameters.NewSet[float64](fits)); err == nil || !strings.Contains(err.Error(), "layers is 0") {
		t.Errorf("no layers: error is %v", err)
	}
	if _, err := New(g, c, parameters.NewSet[float64](fits[1:])); err == nil {
		t.Error("a tensor too few is no error")
	}
	other := parameters.Layout(c, g.RelationCount()+2)
	if _, err := New(g, c, parameters.NewSet[float64](other)); err == nil ||
		!strings.Contains(err.Error(), "query.weight") && !strings.Contains(err.Error(), "relation") {
		t.Errorf("parameters for other relations: error is %v", err)
	}
}
