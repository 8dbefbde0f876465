package discovery

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/externalsort"
	"tagnet/model/answer"
	"tagnet/model/graph"
)

// TestCandidates checks that the answers of a query become facts in the right direction, that facts of the graph and unreached
// answers are left out, and that shares are a softmax.
func TestCandidates(t *testing.T) {
	t.Parallel()
	held := func(f graph.Fact) (Held, bool) {
		if f == (graph.Fact{Head: 4, Relation: 1, Tail: 9}) {
			return Test, true
		}
		return 0, false
	}
	query := &answer.Ranked{Query: graph.Query{Source: 9, Relation: 3}, Best: []answer.Candidate{
		{Entity: 2, Score: 3, Distance: 2}, {Entity: 4, Score: 2, Known: true, Distance: 1}, {Entity: 5, Score: 1, Known: true, Distance: 1}, {Entity: 6, Score: 0, Distance: -1},
	}}
	got := Listing{BaseRelations: 2, Held: held}.Candidates(nil, query)
	share := func(score float64) float32 { return float32(score - math.Log(math.Exp(3)+math.Exp(2))) }
	want := []Candidate{
		{Fact: graph.Fact{Head: 2, Relation: 1, Tail: 9}, Inverse: true, Side: Side{3, share(3), 1}, Distance: 2},
		{Fact: graph.Fact{Head: 4, Relation: 1, Tail: 9}, Inverse: true, Side: Side{2, share(2), 2}, Distance: 1, Held: Test},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if all := (Listing{BaseRelations: 2, Held: held, Unreached: true}).Candidates(nil, query); len(all) != 3 || all[2].Head != 6 || all[2].Distance != -1 {
		t.Errorf("with unreached ones: %+v", all)
	}
	for _, c := range got {
		if diff := cmp.Diff(c, candidateOf(c.Row())); diff != "" {
			t.Error(diff)
		}
	}
}

// TestJoin checks that the two answers that are one fact become one, in whatever files they were.
func TestJoin(t *testing.T) {
	t.Parallel()
	rows := []externalsort.Wide{}
	for _, c := range []Candidate{
		{Fact: graph.Fact{Head: 1, Relation: 0, Tail: 2}, Side: Side{Score: 5, Position: 1}, Distance: 1},
		{Fact: graph.Fact{Head: 1, Relation: 0, Tail: 2}, Inverse: true, Side: Side{Score: 4, Position: 3}, Distance: 1},
		{Fact: graph.Fact{Head: 1, Relation: 1, Tail: 2}, Inverse: true, Side: Side{Score: -1, Position: 2}, Distance: 1, Held: Valid},
		{Fact: graph.Fact{Head: 3, Relation: 0, Tail: 0}, Side: Side{Score: 7, Position: 1}},
	} {
		rows = append(rows, c.Row())
	}
	slices.SortFunc(rows, externalsort.Wide.Compare)
	var got []Fact
	add, end := Join(func(f *Fact) error { got = append(got, *f); return nil })
	for _, r := range rows {
		if err := add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	want := []Fact{
		{Fact: graph.Fact{Head: 1, Relation: 0, Tail: 2}, Tails: Side{Score: 5, Position: 1}, Heads: Side{Score: 4, Position: 3}, Distance: 1},
		{Fact: graph.Fact{Head: 1, Relation: 1, Tail: 2}, Heads: Side{Score: -1, Position: 2}, Distance: 1, Held: Valid},
		{Fact: graph.Fact{Head: 3, Relation: 0, Tail: 0}, Tails: Side{Score: 7, Position: 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// randomGraph returns a graph of random facts, with a relation 2 that leaves exactly the entities that relation 0 leaves.
func randomGraph(t *testing.T) *graph.Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var facts []graph.Fact
	for range 120 {
		f := graph.Fact{Head: random.Int32N(40), Relation: random.Int32N(2), Tail: random.Int32N(40)}
		facts = append(facts, f)
		if f.Relation == 0 {
			facts = append(facts, graph.Fact{Head: f.Head, Relation: 2, Tail: random.Int32N(40)})
		}
	}
	g, err := graph.New(50, 3, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestHabits compares with naive Bayes over a table of all entities and relations.
func TestHabits(t *testing.T) {
	t.Parallel()
	g := randomGraph(t)
	asked := []int32{0, 2, 4}
	h := NewHabits(g, asked)
	has := make([][]float64, g.Entities)
	for o := range has {
		has[o] = make([]float64, g.RelationCount())
		for _, r := range g.Relations[g.Offsets[o]:g.Offsets[o+1]] {
			has[o][g.Inverse(r)]++
		}
	}
	for o := range int32(g.Entities) {
		for _, q := range asked {
			want := 0.0
			for r := range int32(g.RelationCount()) {
				if r == q {
					continue
				}
				var both, ofQ, ofR float64
				for _, row := range has {
					inQ, inR := min(row[q], 1), min(row[r], 1)
					both, ofQ, ofR = both+inQ*inR, ofQ+inQ, ofR+inR
				}
				rate := (ofR + .5) / float64(g.Entities+1)
				with := min(max((both+2*rate)/(ofQ+2), 1e-4), 1-1e-4)
				without := min(max((ofR-both+2*rate)/(float64(g.Entities)-ofQ+2), 1e-4), 1-1e-4)
				if has[o][r] > 0 {
					want += math.Log(with / without)
				} else {
					want += math.Log((1 - with) / (1 - without))
				}
			}
			if got := h.LogOdds(o, q); !(math.Abs(got-want) <= 1e-5) {
				t.Fatalf("entity %d, relation %d: %g, want %g", o, q, got, want)
			}
			of, all := h.Degrees(o, q)
			sum := 0.0
			for _, n := range has[o] {
				sum += n
			}
			if float64(of) != has[o][q] || float64(all) != sum {
				t.Fatalf("entity %d, relation %d: degrees %d, %d, want %g, %g", o, q, of, all, has[o][q], sum)
			}
		}
	}
}

// drawn returns observations whose log odds are -2 + x[0] - 2 x[7] + 1.5 for relation 1.
func drawn(n int, seed uint64) []Observation {
	random := rand.New(rand.NewPCG(seed, 3))
	sample := make([]Observation, n)
	for i := range sample {
		o := Observation{Fact: graph.Fact{Head: int32(i), Relation: random.Int32N(2)}}
		for f := range o.Features {
			o.Features[f] = 3 + 2*random.NormFloat64()
		}
		z := -2 + (o.Features[0] - 3) - 2*(o.Features[7]-3) + 1.5*float64(o.Relation)
		o.True = random.Float64() < 1/(1+math.Exp(-z))
		sample[i] = o
	}
	return sample
}

// TestFitRecoversTheWeights fits to observations whose log odds are known, all of them and with a sample of the false ones.
func TestFitRecoversTheWeights(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{1, .25} {
		s := Sample{Rate: rate}
		var sample []Observation
		random := rand.New(rand.NewPCG(9, 9))
		for _, o := range drawn(30_000, 4) {
			if o.True || random.Float64() < rate {
				sample = append(sample, o)
			}
		}
		m, err := s.Fit(sample, 2)
		if err != nil {
			t.Fatal(err)
		}
		fresh := drawn(200, 8)
		for i := range fresh {
			o := fresh[i]
			want := -2 + (o.Features[0] - 3) - 2*(o.Features[7]-3) + 1.5*float64(o.Relation)
			if got := m.Weights.LogOdds(o.Relation, &o.Features); !(math.Abs(got-want) <= .2*max(3, math.Abs(want))) {
				t.Errorf("rate %g: log odds %g, want %g", rate, got, want)
			}
		}
	}
}

// TestFewTrueFacts fits where true facts are rare and easy to tell: a whole step of Newton's method would turn the order around.
func TestFewTrueFacts(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2, 3} {
		random := rand.New(rand.NewPCG(seed, 5))
		sample := make([]Observation, 6000)
		for i := range sample {
			o := Observation{Fact: graph.Fact{Head: int32(i)}, True: i < 21}
			level := -8 + random.NormFloat64()
			if o.True {
				level = 2
			}
			for f := range o.Features {
				o.Features[f] = level * float64(1+f%3)
			}
			sample[i] = o
		}
		m, err := Sample{Rate: 1}.Fit(slices.Clone(sample), 1)
		if err != nil {
			t.Fatal(err)
		}
		least, most := math.MaxFloat64, -math.MaxFloat64
		for i := range sample {
			z := m.Weights.LogOdds(0, &sample[i].Features)
			if sample[i].True {
				least = min(least, z)
			} else {
				most = max(most, z)
			}
		}
		if !(least > 0 && most < 0) {
			t.Errorf("seed %d: log odds of true facts from %g, of false ones to %g", seed, least, most)
		}
	}
}

// TestOrderOfTheSample checks that the order in which workers draw a sample changes no bit of the weights.
func TestOrderOfTheSample(t *testing.T) {
	t.Parallel()
	sample := drawn(500, 1)
	want, err := Sample{Rate: 1}.Fit(slices.Clone(sample), 2)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(sample)
	got, err := Sample{Rate: 1}.Fit(sample, 2)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestTooFewTrueFacts(t *testing.T) {
	t.Parallel()
	sample := drawn(100, 1)
	for i := range sample {
		sample[i].True = i < MinTrue-1
	}
	if _, err := (Sample{Rate: 1}).Fit(sample, 2); !errors.Is(err, ErrTooFew) {
		t.Errorf("error %v", err)
	}
}

// TestCurve checks that probabilities hold for facts whose log odds are misleading, and do not fall.
func TestCurve(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	truth := func(z float64) float64 { return .9 / (1 + math.Exp(-3*(z-1))) }
	draw := func() (z float64, isTrue bool) {
		z = 4 * random.NormFloat64()
		return z, random.Float64() < truth(z)
	}
	var one, two Histogram
	for i := range 200_000 {
		if z, isTrue := draw(); i%3 == 0 {
			one.Add(z, isTrue)
		} else {
			two.Add(z, isTrue)
		}
	}
	one.Merge(&two)
	c := one.Curve()
	before := 0.0
	for z := -50.0; z < 50; z += .01 {
		p := c.Probability(z)
		if !(p >= before && p > 0 && p < 1) {
			t.Fatalf("log odds %g: probability %g after %g", z, p, before)
		}
		if before = p; !(math.Abs(p-truth(z)) <= .06) {
			t.Errorf("log odds %g: probability %g, want %g", z, p, truth(z))
		}
	}
	facts, isTrue := int64(0), int64(0)
	for _, b := range c {
		facts, isTrue = facts+b.Facts, isTrue+b.True
	}
	if wantFacts, wantTrue := one.Total(); facts != wantFacts || isTrue != wantTrue {
		t.Errorf("%d facts, %d true, want %d, %d", facts, isTrue, wantFacts, wantTrue)
	}
}

// TestFewFactsAtTheTop checks that a few facts that stand out do not get the share of all others.
func TestFewFactsAtTheTop(t *testing.T) {
	t.Parallel()
	var h Histogram
	for i := range 6000 {
		h.Add(-12, false)
		if i < 20 {
			h.Add(2, true)
			h.Add(2.5, false)
		}
		if i < 100 {
			h.Add(-9-float64(i)/100, i%50 == 0)
		}
	}
	c := h.Curve()
	if top := c[len(c)-1]; top.Facts != 50 || top.True != 21 {
		t.Errorf("the highest block is %+v, want 21 of 50: %+v", top, c)
	}
	if p := c.Probability(-12); !(p < .001) {
		t.Errorf("the lowest facts have probability %g", p)
	}
}

// TestMissing checks that presuming twice as many missing facts doubles the odds.
func TestMissing(t *testing.T) {
	t.Parallel()
	m := &Model{Missing: .1, Curve: Curve{{From: -math.MaxFloat64, True: 19, Facts: 99}}}
	odds := func(p float64) float64 { return p / (1 - p) }
	if p, q := m.Probability(0, 0), m.Probability(0, .2); p != m.Probability(0, .1) || !(math.Abs(odds(q)-2*odds(p)) <= 1e-12) {
		t.Errorf("%g and %g", p, q)
	}
}

// TestCut checks where lists end.
func TestCut(t *testing.T) {
	t.Parallel()
	var h Histogram
	for z, isTrue := range map[float64]bool{5: true, 4: false, 3: false, 2: true, 1: false} {
		h.Add(z, isTrue)
	}
	all := func(float64) bool { return true }
	for most, want := range map[int64]float64{1: 4, 2: 3, 3: 1, 9: 1} {
		if got := h.Cut(most, all); got != want {
			t.Errorf("%d facts: from %g, want %g", most, got, want)
		}
	}
	if got := h.Cut(9, func(z float64) bool { return z > 2.5 }); got != 3 {
		t.Errorf("from %g, want 3", got)
	}
	if got := h.First(2); got != 4 {
		t.Errorf("the first two: from %g, want 4", got)
	}
	if facts, isTrue := h.From(2); facts != 4 || isTrue != 2 {
		t.Errorf("%d facts, %d true", facts, isTrue)
	}
}

// TestBest checks that merged lists have the best facts, in the same order in whatever parts they came.
func TestBest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var all []Ranked
	for i := range int32(500) {
		all = append(all, Ranked{Fact: Fact{Fact: graph.Fact{Head: i}}, Score: float64(random.IntN(60))})
	}
	want := slices.Clone(all)
	slices.SortFunc(want, func(a, b Ranked) int { return a.before(&b) })
	for range 5 {
		parts := [3]Best{{Most: 100}, {Most: 100}, {Most: 100}}
		for _, i := range random.Perm(len(all)) {
			parts[random.IntN(3)].Add(all[i])
		}
		sum := Best{Most: 100}
		for i := range parts {
			for _, r := range parts[i].Facts {
				sum.Add(r)
			}
		}
		if diff := cmp.Diff(want[:100], sum.Sorted()); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestLower checks that facts which both queries list come before those that one lists.
func TestLower(t *testing.T) {
	t.Parallel()
	both := Fact{Tails: Side{Score: -50, Position: 9}, Heads: Side{Score: 3, Position: 1}}
	one := Fact{Tails: Side{Score: 70, Position: 1}}
	worse := Fact{Heads: Side{Score: 1, Position: 1}}
	if !(both.Lower() >= one.Lower() && one.Lower() > worse.Lower()) {
		t.Errorf("%g, %g, %g", both.Lower(), one.Lower(), worse.Lower())
	}
}
