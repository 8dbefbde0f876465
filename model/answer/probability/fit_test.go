package probability

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

// world is a graph of drawn facts, observations of them, and candidates of which some are true.
type world struct {
	around     *Surroundings
	labeled    []Labeled
	candidates []Observation
	isTrue     map[graph.Fact]bool
}

// observed returns the observation of a fact that scores, before noise, as given, or of another one.
func observed(f graph.Fact, score float64, random *rand.Rand) Observation {
	side := func() Side {
		return Side{Score: float32(score + 1.5*random.NormFloat64()), Rank: 1 + random.Int64N(14)}
	}
	return Observation{Fact: f, Tails: side(), Heads: side(), Hops: random.Int32N(5) - 1}
}

// newWorld returns a graph of facts of two relations, and of few facts of others: relation 2 has 10, relation 3 has
// one. true candidates score apart more than the others.
func newWorld(t *testing.T, facts, missing, others int, separation float64) *world {
	t.Helper()
	const entities = 1000
	random := rand.New(rand.NewPCG(5, uint64(facts)))
	used := map[graph.Fact]bool{}
	draw := func(n int, relation func(i int) int32) (list []graph.Fact) {
		for len(list) < n {
			f := graph.Fact{Head: random.Int32N(entities), Relation: relation(len(list)), Tail: random.Int32N(entities)}
			if !used[f] {
				used[f] = true
				list = append(list, f)
			}
		}
		return list
	}
	two := func(int) int32 { return random.Int32N(2) }
	known := draw(facts, func(i int) int32 {
		switch {
		case i < 10:
			return 2
		case i == 10:
			return 3
		}
		return two(i)
	})
	w := &world{around: NewSurroundings(newGraph(t, entities, 5, known)), isTrue: map[graph.Fact]bool{}}
	for _, f := range known {
		w.labeled = append(w.labeled, Labeled{Observation: observed(f, separation, random)})
	}
	for _, f := range draw(missing, two) {
		w.isTrue[f] = true
		w.candidates = append(w.candidates, observed(f, separation, random))
	}
	for _, f := range draw(others, func(int) int32 { return random.Int32N(5) }) {
		w.candidates = append(w.candidates, observed(f, -separation, random))
	}
	return w
}

func (w *world) sample(rate float64) Sample {
	return Sample{Seed: 1, K: 10, Facts: 5000, Relations: 5, Rate: rate, QueryDivisor: 1, CandidateDivisor: 1}
}

func (w *world) fit(t *testing.T, rate float64) *Model {
	t.Helper()
	m, err := Fit(t.Context(), w.around, w.sample(rate), w.labeled, w.candidates, 1, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFoldsSideBySide fits with several threads, which changes nothing, and counts what is done.
func TestFoldsSideBySide(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1000, 100, 3000, .7)
	want := w.fit(t, 1)
	var done atomic.Int64
	got, err := Fit(t.Context(), w.around, w.sample(1), w.labeled, w.candidates, 3, func() { done.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("three threads (-want +got):\n%s", diff)
	}
	if done.Load() != Regressions {
		t.Errorf("%d steps are done, want %d", done.Load(), Regressions)
	}
}

func (w *world) estimator(t *testing.T, m *Model, missing float64) *Estimator {
	t.Helper()
	e, err := m.Estimator(w.around, Presumed{Missing: missing})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestProbabilitiesHold fits to facts and candidates, some of which are true, and checks that so many are as
// their probabilities say.
func TestProbabilitiesHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3000, 300, 12_000, .7)
	for _, thinned := range []bool{false, true} {
		rate, s := .4, w.sample(.4)
		if thinned {
			rate, s = 1, w.sample(1)
			s.QueryDivisor, s.CandidateDivisor = 2, 3
		}
		m, err := Fit(t.Context(), w.around, s, w.labeled, w.candidates, 1, func() {})
		if err != nil {
			t.Fatal(err)
		}
		e := w.estimator(t, m, 300./3000)
		var facts, sum, isTrue [10]float64
		total := 0.0
		for i := range w.candidates {
			o := &w.candidates[i]
			p := e.Estimate(o).Probability
			if o.within(10) {
				total += p
			}
			bin := min(9, int(10*p))
			facts[bin]++
			sum[bin] += p
			if w.isTrue[o.Fact] {
				isTrue[bin]++
			}
		}
		within := .92 * 300 // the share of facts of which one rank is 10 or less of 14
		if !(math.Abs(total-within) <= .08*within/rate) {
			t.Errorf("rate %g: the probabilities sum to %g, want about %g", rate, total, within)
		}
		for bin, n := range facts {
			if n < 100 {
				continue
			}
			p, share := sum[bin]/n, isTrue[bin]/n
			if deviation := math.Sqrt(p / n); !(math.Abs(p-share) <= .03+.15*p/rate+3*deviation) {
				t.Errorf("rate %g: %g facts with mean probability %.3f are true in %.3f of the cases", rate, n, p, share)
			}
		}
	}
}

// TestProbabilitiesSumToTheMissing checks the sum over the candidates that were fitted to.
func TestProbabilitiesSumToTheMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1500, 150, 6000, 1)
	m := w.fit(t, .5)
	for _, missing := range []float64{.001, .02, .05} {
		e := w.estimator(t, m, missing)
		sum := 0.0
		for i := range w.candidates {
			if o := &w.candidates[i]; m.Sample.weight(w.around, o) > 0 {
				sum += e.Estimate(o).Probability / .5
			}
		}
		labeled, _ := m.Curve.totals()
		if want := missing * float64(labeled); !(math.Abs(sum-want) <= 1e-6*want) {
			t.Errorf("missing %g: the sum is %g, want %g", missing, sum, want)
		}
	}
}

// TestMost checks how many facts of a relation are missing at most.
func TestMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2000, 200, 8000, 2.5)
	for _, rate := range []float64{1, .4} {
		e := w.estimator(t, w.fit(t, rate), .05)
		for r := range int32(5) {
			facts, missing := 0., 0.
			for i := range w.labeled {
				if w.labeled[i].Relation == r {
					facts++
				}
			}
			for f := range w.isTrue {
				if f.Relation == r {
					missing++
				}
			}
			share := missing / facts
			if most, told := e.Most(r); told != (r < 2) || told && !(most >= .85*share && most <= 1.5*share) {
				t.Errorf("rate %g: of relation %d at most %g are missing (told: %t), want a little over %g", rate, r, most, told, share)
			}
		}
	}
}

// TestNothingTellsFactsFromOthers observes the facts of a random graph, and pairs drawn at random, with scores that say
// nothing: no regression may know one from the other.
func TestNothingTellsFactsFromOthers(t *testing.T) {
	t.Parallel()
	for _, facts := range []int{200, 3000} {
		w := newWorld(t, facts, 0, 12_000, 0)
		m := w.fit(t, 1)
		var list []judged
		add := func(o *Observation, labeled bool) {
			if o.Relation < 2 && o.within(10) {
				x := w.around.features(o, 10)
				list = append(list, judged{m.Folds[m.Sample.fold(o.Fact)].logOdds(&x, 4), labeled, 1})
			}
		}
		for i := range w.labeled {
			add(&w.labeled[i].Observation, true)
		}
		for i := range w.candidates {
			add(&w.candidates[i], false)
		}
		if area, n := area(list); !(math.Abs(area-.5) <= 1.5/math.Sqrt(n)) {
			t.Errorf("%d facts: a fact has higher log odds than another pair with probability %.3f, want .5", facts, area)
		}
	}
}

// area returns the probability that a labeled observation has higher log odds than another one, and the
// number of labeled ones.
func area(list []judged) (area, labeled float64) {
	slices.SortFunc(list, func(a, b judged) int {
		if a.logOdds < b.logOdds {
			return -1
		}
		return 1
	})
	below, above := 0.0, 0.0
	for _, j := range list {
		if j.labeled {
			labeled++
			above += below
		} else {
			below++
		}
	}
	return above / (below * labeled), labeled
}

// TestScoresNeverLower raises scores, and the ranks that follow from them.
func TestScoresNeverLower(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1000, 100, 4000, .4)
	// The score asking heads misleads: without a sign its weight would be negative.
	for i := range w.labeled {
		w.labeled[i].Heads.Score -= 3
	}
	m := w.fit(t, 1)
	e := w.estimator(t, m, .1)
	random := rand.New(rand.NewPCG(2, 2))
	stopped := 0
	for range 20_000 {
		o := w.candidates[random.IntN(len(w.candidates))]
		before := e.Estimate(&o)
		side := &o.Tails
		if random.IntN(2) == 0 {
			side = &o.Heads
		}
		side.Score += float32(math.Exp(6*random.NormFloat64() - 3))
		side.Rank = 1 + random.Int64N(side.Rank)
		after := e.Estimate(&o)
		if after.Probability < before.Probability || after.LogOdds < before.LogOdds || before.Compare(after) < 0 {
			t.Fatalf("%+v after %+v, which has a lower score", after, before)
		}
		if after.LogOdds == before.LogOdds {
			stopped++
		}
	}
	for i, f := range m.Folds {
		if f.Weights[2] != 0 || !(f.Weights[1] > 0) {
			t.Errorf("fold %d: weights of the scores are %v, want the one that misleads to be 0", i, f.Weights[:3])
		}
	}
	if stopped == 20_000 {
		t.Error("no score changed anything")
	}
}

// TestRegressionIsTheBest checks that no weight can be changed for the better.
func TestRegressionIsTheBest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	examples := make([]example, 800)
	for i := range examples {
		e := &examples[i]
		e.group, e.fold, e.weight = random.IntN(3), -1, 1+random.IntN(3)
		z := float64(e.group) - 2
		for f := range e.row {
			e.row[f] = 2 + random.NormFloat64()
			z += (e.row[f] - 2) * .3 * float64(f%3)
		}
		e.labeled = random.Float64() < 1/(1+math.Exp(-z))
	}
	w := regress(t.Context(), examples, 0, 3)
	scaled := slices.Clone(examples)
	for i := range scaled {
		x := &scaled[i].row
		for f := range x {
			x[f] = (x[f] - w.Means[f]) / w.Deviations[f]
		}
	}
	best, held := w.objective(scaled), 0
	try := func(name string, value *float64, sign int) {
		was := *value
		for _, change := range []float64{-1e-3, 1e-3} {
			*value = was + change
			if allowed := *value*float64(sign) >= 0; allowed && w.objective(scaled) > best {
				t.Errorf("%s: %g is better than %g", name, *value, was)
			}
		}
		*value = was
	}
	try("intercept", &w.Intercept, 0)
	for f := range w.Weights {
		if w.Weights[f] == 0 {
			held++
		}
		try(features[f].name, &w.Weights[f], features[f].sign)
	}
	for r := range w.Groups {
		try("group", &w.Groups[r], 0)
	}
	if held == 0 || held > 6 {
		t.Errorf("%d weights are 0, want some of those with a sign", held)
	}
}

// TestFoldsDoNotSeeTheirFacts checks that a fold's regression does not follow from what is observed of its facts.
func TestFoldsDoNotSeeTheirFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 600, 50, 1000, 1)
	m := w.fit(t, 1)
	for i := range w.candidates {
		if o := &w.candidates[i]; m.Sample.fold(o.Fact) == 2 {
			o.Tails.Score += 3
		}
	}
	changed := w.fit(t, 1)
	for i := range folds {
		same := slices.Equal(m.Folds[i].Weights, changed.Folds[i].Weights)
		if same != (i == 2) {
			t.Errorf("fold %d: equal weights: %t", i, same)
		}
	}
}

// TestRelationsOfFewFacts checks which relations have intercepts of their own, one for each number of hops, which have
// some in common, and no probabilities.
func TestRelationsOfFewFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1000, 0, 5000, 1)
	for i := range w.labeled {
		w.labeled[i].Tails.Rank, w.labeled[i].Hops = 1, 2+w.labeled[i].Relation%2
	}
	m := w.fit(t, 1)
	for i, want := range []int{10, 1, 0} {
		if of := m.Relations[2+i]; of.Labeled != want || of.Drawn != want || of.Facts != int64(want) {
			t.Fatalf("relation %d: %+v, want %d labeled facts", 2+i, of, want)
		}
	}
	e := w.estimator(t, m, .05)
	o := w.candidates[0]
	o.Tails = Side{Score: 9, Rank: 1}
	var of [5]Estimate
	for r := range of {
		o.Relation = int32(r)
		of[r] = e.Estimate(&o)
		if claimed := r < 3; of[r].HasProbability != claimed || (of[r].Probability > 0) != claimed {
			t.Errorf("relation %d: %+v, want a claim: %t", r, of[r], claimed)
		}
	}
	if of[4].Compare(of[0]) <= 0 {
		t.Error("a fact without a claim is before another one")
	}
	for o.Relation = range int32(2) {
		var of [4]Estimate
		for o.Hops = range int32(4) {
			of[o.Hops] = e.Estimate(&o)
		}
		if of[2+o.Relation].Compare(of[3-o.Relation]) >= 0 {
			t.Errorf("relation %d, by hops: %+v, want those of its facts first", o.Relation, of)
		}
	}
	o.Relation, o.Tail = 0, o.Head
	if loop := e.Estimate(&o); loop.HasProbability {
		t.Errorf("a fact of an entity with itself: %+v, want no claim", loop)
	}
	if g := m.Folds[0].Groups; !slices.Equal(m.OwnIntercepts, []int{0, 1}) || len(g) != 3*distances || g[2*distances] == 0 {
		t.Errorf("relations %v have intercepts of their own, all are %v, want those of relations 0 and 1, and one in common", m.OwnIntercepts, g)
	}
}

// TestShift checks that the scores of facts which training saw are lowered by what they are higher.
func TestShift(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 6))
	drawn := func(tails, heads float64, heldOut bool) (list []Labeled) {
		for i := range int32(4000) {
			l := Labeled{Observation: observed(graph.Fact{Head: i, Relation: i % 2}, 10*float64(i%2), random), HeldOut: heldOut && i%4 == 0}
			if !l.HeldOut {
				l.Tails.Score += float32(tails)
				l.Heads.Score += float32(heads)
			}
			list = append(list, l)
		}
		return list
	}
	s := newShift(drawn(1, .5, true))
	if !(math.Abs(s.Tails-1) <= .15 && math.Abs(s.Heads-.5) <= .15) {
		t.Errorf("shift %+v, want 1 and .5", s)
	}
	if s := newShift(drawn(-1, 1, false)); s != (Shift{}) {
		t.Errorf("shift %+v, want none without facts that were held out", s)
	}
	if s := newShift(drawn(-1, 0, true)); s.Tails != 0 || !(s.Heads <= .06) {
		t.Errorf("shift %+v, want none where facts that were held out score higher", s)
	}
	few := make([]Labeled, 8)
	for i := range few {
		few[i] = Labeled{Observation: observed(graph.Fact{Head: int32(i)}, 0, random), HeldOut: i%2 == 0}
		few[i].Tails.Score, few[i].Heads.Score = float32(i), float32(i)
	}
	if s := newShift(few); s != (Shift{}) {
		t.Errorf("shift %+v, want none where chance explains it", s)
	}
	w := newWorld(t, 2000, 0, 4000, 1)
	plain := w.fit(t, 1)
	for i := range w.labeled {
		l := &w.labeled[i]
		if l.HeldOut = i%3 == 0; !l.HeldOut {
			l.Tails.Score += 2
			l.Heads.Score += 2
		}
	}
	shifted := w.fit(t, 1)
	for i, f := range shifted.Folds {
		if was := plain.Folds[i].Weights[1]; !(math.Abs(f.Weights[1]-was) <= .2*was) {
			t.Errorf("fold %d: weight %g of a score, want about %g, that without a shift", i, f.Weights[1], was)
		}
	}
}

// TestOrderOfTheObservations checks that the order in which workers observe changes no byte, nor does
// seeing a candidate twice.
func TestOrderOfTheObservations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 500, 50, 2000, 1)
	want, err := w.fit(t, .5).Encode()
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(w.labeled)
	slices.Reverse(w.candidates)
	w.candidates = append(w.candidates, w.candidates[:100]...)
	got, err := w.fit(t, .5).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the files differ")
	}
}

func TestObservationsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 100, 10, 500, 1)
	fit := func(change func(labeled []Labeled, unlabeled []Observation, s *Sample)) error {
		labeled, unlabeled, s := slices.Clone(w.labeled), slices.Clone(w.candidates), w.sample(1)
		change(labeled, unlabeled, &s)
		_, err := Fit(t.Context(), w.around, s, labeled, unlabeled, 1, func() {})
		return err
	}
	for want, change := range map[string]func([]Labeled, []Observation, *Sample){
		"score asking heads is NaN":           func(l []Labeled, _ []Observation, _ *Sample) { l[3].Heads.Score = float32(math.NaN()) },
		"rank asking tails is 0":              func(_ []Labeled, u []Observation, _ *Sample) { u[3].Tails.Rank = 0 },
		"hops is -2":                          func(_ []Labeled, u []Observation, _ *Sample) { u[3].Hops = -2 },
		"the graph has 1000 entities":         func(_ []Labeled, u []Observation, _ *Sample) { u[3].Tail = 1000 },
		"a fact of the graph: true, want":     func(l []Labeled, u []Observation, _ *Sample) { u[3].Fact = l[3].Fact },
		"a fact of the graph: false, want":    func(l []Labeled, u []Observation, _ *Sample) { l[3].Fact = u[3].Fact },
		"is observed twice":                   func(l []Labeled, _ []Observation, _ *Sample) { l[3].Fact = l[4].Fact },
		"100 labeled facts of 5 relations":    func(_ []Labeled, _ []Observation, s *Sample) { s.Facts = 99 },
		"want more than 0 and at most 1":      func(_ []Labeled, _ []Observation, s *Sample) { s.Rate = 0 },
		"19 labeled facts are among the 10 b": func(l []Labeled, _ []Observation, _ *Sample) { few(l, 19) },
	} {
		if err := fit(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := fit(func(l []Labeled, _ []Observation, _ *Sample) { few(l, 5) }); !errors.Is(err, ErrTooFew) {
		t.Errorf("error %v, want ErrTooFew", err)
	}
	if _, err := Fit(t.Context(), w.around, w.sample(1), w.labeled, nil, 1, func() {}); !errors.Is(err, ErrTooFew) {
		t.Errorf("error %v, want ErrTooFew", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("interrupted")
	cancel(ended)
	if _, err := Fit(ctx, w.around, w.sample(1), w.labeled, w.candidates, 1, func() {}); !errors.Is(err, ended) {
		t.Errorf("interrupted: error %v", err)
	}
}

// few leaves so many facts of the first two relations among the best of their queries.
func few(labeled []Labeled, n int) {
	for i := range labeled {
		l := &labeled[i]
		l.Tails.Rank, l.Heads.Rank = 11, 12
		if l.Relation < 2 && n > 0 {
			l.Tails.Rank, n = 1, n-1
		}
	}
}
