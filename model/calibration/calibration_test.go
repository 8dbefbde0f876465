package calibration

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/formats/checksum"
	"tagnet/formats/checksum/checksumtest"
)

var names = []string{"likes", "knows"}

// draw returns the candidates of n queries, ten for each, whose scores are uniform in [-5, 5] and which are true with
// the probability of the line of their relation.
func draw(n int, lines []Line, seed uint64) []Candidate {
	random := rand.New(rand.NewPCG(seed, 1))
	var sample []Candidate
	for q := range n {
		relation := int32(random.IntN(len(lines)))
		for range 10 {
			score := float32(10*random.Float64() - 5)
			sample = append(sample, Candidate{
				Query: int64(q), Relation: relation, Score: score,
				True: random.Float64() < Sigmoid(lines[relation].logOdds(float64(score))),
			})
		}
	}
	return sample
}

func fitted(t *testing.T, sample []Candidate) *Calibration {
	t.Helper()
	c, err := Fit(sample, names)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFitRecoversTheLines(t *testing.T) {
	t.Parallel()
	lines := []Line{{-3, 0.5}, {-1, 2}, {-4, 1}, {-2, 0}}
	c := fitted(t, draw(6000, lines, 7))
	if len(c.Relations) != 4 {
		t.Fatalf("%d relations have their own parameters, want 4: %+v", len(c.Relations), c)
	}
	for i, want := range lines {
		if got := c.Relations[i].Line; !cmp.Equal(got, want, cmpopts.EquateApprox(0, 0.2)) {
			t.Errorf("relation %d: %+v, want about %+v", i, got, want)
		}
	}
	if diff := cmp.Diff([]string{"likes tail", "knows tail", "likes head", "knows head"}, []string{
		c.Relations[0].Name + " " + c.Relations[0].Direction, c.Relations[1].Name + " " + c.Relations[1].Direction,
		c.Relations[2].Name + " " + c.Relations[2].Direction, c.Relations[3].Name + " " + c.Relations[3].Direction,
	}); diff != "" {
		t.Error(diff)
	}
	if got := c.Rate(); got != c.BaseRate || c.Queries != 6000 || c.Candidates != 60_000 {
		t.Errorf("base rate %g, counts %+v", c.BaseRate, c.Counts)
	}
}

// TestEqualRelationsShareTheWhole checks that relations which do not differ get no parameters that only follow noise.
func TestEqualRelationsShareTheWhole(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		c := fitted(t, draw(400, []Line{{-3, 1}, {-3, 1}, {-3, 1}, {-3, 1}}, seed))
		for _, r := range c.Relations {
			for _, score := range []float32{-4, 0, 4} {
				got, want := c.Probability(r.ID, score), Sigmoid(c.Whole.logOdds(float64(score)))
				if !(math.Abs(got-want) <= 0.1) {
					t.Errorf("seed %d, strength %g: relation %d with score %g has %g, the whole %g", seed, c.Strength, r.ID, score, got, want)
				}
			}
		}
	}
}

func TestFewQueriesTakeTheWhole(t *testing.T) {
	t.Parallel()
	sample := draw(2000, []Line{{-3, 0.5}, {-1, 2}}, 3)
	for q := range int64(MinQueries - 1) {
		sample = append(sample, Candidate{Query: 5000 + q, Relation: 2, Score: 5})
	}
	c := fitted(t, sample)
	if len(c.Relations) != 2 || c.Probability(2, 1) != Sigmoid(c.Whole.logOdds(1)) || c.Probability(3, 1) != c.Probability(2, 1) {
		t.Errorf("relations with own parameters: %+v", c.Relations)
	}
}

// TestDegenerateSamples checks that probabilities are numbers above 0 and below 1 that do not fall with the score,
// whatever the sample.
func TestDegenerateSamples(t *testing.T) {
	t.Parallel()
	build := func(score func(i int) float32, isTrue func(i int) bool) (sample []Candidate) {
		for i := range 400 {
			sample = append(sample, Candidate{Query: int64(i / 4), Relation: int32(i / 4 % 4), Score: score(i), True: isTrue(i)})
		}
		return sample
	}
	ascending := func(i int) float32 { return float32(i%4) - 2 }
	for name, sample := range map[string][]Candidate{
		"one candidate":         {{Score: 3, True: true}},
		"all true":              build(ascending, func(int) bool { return true }),
		"all false":             build(ascending, func(int) bool { return false }),
		"separable":             build(ascending, func(i int) bool { return i%4 == 3 }),
		"lower scores are true": build(ascending, func(i int) bool { return i%4 == 0 }),
		"one relation is true":  build(ascending, func(i int) bool { return i/4%4 == 1 }),
		"equal scores":          build(func(int) float32 { return -7 }, func(i int) bool { return i%3 == 0 }),
		"huge scores":           build(func(i int) float32 { return 1e37 * ascending(i) }, func(i int) bool { return i%4 == 3 }),
		"tiny differences":      build(func(i int) float32 { return 1000 + ascending(i)/1024 }, func(i int) bool { return i%4 == 3 }),
		"infinite and NaN": append(build(ascending, func(i int) bool { return i%5 == 3 }),
			Candidate{Score: float32(math.Inf(1)), True: true}, Candidate{Score: float32(math.NaN())}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := fitted(t, sample)
			text, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(text); err != nil {
				t.Errorf("%v: %s", err, text)
			}
			for relation := range int32(4) {
				before := 0.0
				for _, score := range []float32{float32(math.Inf(-1)), -1e38, -1000, -2, 0, 1, 2, 1000, 1e38, float32(math.Inf(1))} {
					p := c.Probability(relation, score)
					if !(p >= before && p <= 1) {
						t.Errorf("relation %d, score %g: probability %g after %g", relation, score, p, before)
					}
					before = p
				}
			}
			for _, s := range sample {
				p := c.Probability(s.Relation, s.Score)
				if !math.IsInf(float64(s.Score), 0) && s.Score == s.Score && !(p > 0 && p < 1) {
					t.Errorf("%+v has probability %g", s, p)
				}
			}
		})
	}
}

func TestNothingToFit(t *testing.T) {
	t.Parallel()
	for _, sample := range [][]Candidate{nil, {{Score: float32(math.NaN())}}} {
		if _, err := Fit(sample, names); !errors.Is(err, ErrNoCandidates) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := Fit([]Candidate{{Relation: 4}}, names); err == nil {
		t.Error("no error for a relation that does not exist")
	}
}

// TestOrderOfTheSample checks that the order in which workers scored a sample changes no bit of the file.
func TestOrderOfTheSample(t *testing.T) {
	t.Parallel()
	sample := draw(600, []Line{{-3, 0.5}, {-1, 2}, {-4, 1}}, 11)
	for i := range sample { // equal scores in a query, of which some are true
		sample[i].Score = float32(math.Round(float64(sample[i].Score)))
	}
	want, err := fitted(t, sample).Encode()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 2))
	for range 5 {
		random.Shuffle(len(sample), func(i, j int) { sample[i], sample[j] = sample[j], sample[i] })
		before := slices.Clone(sample)
		got, err := fitted(t, sample).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatal(diff)
		}
		if !slices.Equal(before, sample) {
			t.Fatal("Fit changed its sample")
		}
	}
}

// TestNewton compares the line of the whole with the stationary point of the objective.
func TestNewton(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		points := make([]point, 1+random.IntN(200))
		for i := range points {
			points[i] = point{random.NormFloat64() * 3, random.IntN(4) == 0}
		}
		p := prior{Line{random.NormFloat64(), random.Float64()}, matrix{random.Float64() * 5, 0, 0.1 + random.Float64()*5}}
		line := fit(points, p)
		_, gradient, _ := objective(points, p, line)
		scale := 1e-5 * float64(1+len(points))
		if !(math.Abs(gradient.Intercept) <= scale) || line.Slope > 0 && !(math.Abs(gradient.Slope) <= scale) || line.Slope == 0 && gradient.Slope < -scale {
			t.Errorf("%d points: at %+v the gradient is %+v", len(points), line, gradient)
		}
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	c := fitted(t, draw(600, []Line{{-3, 0.5}, {-1, 2}, {-5, 0.1}}, 1))
	c.Weights, c.Split, c.TopK = "abc", "valid", 10
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if read.Checksum == "" || !bytes.Contains(text, []byte(read.Checksum)) {
		t.Errorf("checksum %q", read.Checksum)
	}
	c.Checksum = read.Checksum
	if diff := cmp.Diff(c, read, cmp.AllowUnexported(Calibration{})); diff != "" {
		t.Errorf("read (-written +read):\n%s", diff)
	}
	for i := range text {
		broken := slices.Clone(text)
		broken[i] ^= 1
		if got, err := Parse(broken); err == nil && !cmp.Equal(got, c, cmp.AllowUnexported(Calibration{})) {
			t.Fatalf("byte %d: another calibration was read without an error", i)
		}
		if _, err := Parse(text[:i]); err == nil && i < len(text)-1 {
			t.Fatalf("no error for the first %d bytes", i)
		}
	}
	for name, change := range map[string]func(*Calibration){
		"version":        func(c *Calibration) { c.FormatVersion++ },
		"base rate":      func(c *Calibration) { c.BaseRate = 0.5 },
		"negative slope": func(c *Calibration) { c.Whole.Slope = -1 },
		"relation":       func(c *Calibration) { c.Relations[1].Slope = -1 },
		"order":          func(c *Calibration) { c.Relations[0], c.Relations[1] = c.Relations[1], c.Relations[0] },
		"top k":          func(c *Calibration) { c.TopK = -1 },
		"sample":         func(c *Calibration) { c.Relations[0].True = c.Relations[0].Candidates + 1 },
		"strength":       func(c *Calibration) { c.Strength = -1 },
	} {
		changed := *c
		changed.Relations = slices.Clone(c.Relations)
		change(&changed)
		text, err := changed.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFileWithoutTheWhole checks that a curve that is absent is not taken for one of zeros, a probability of one half for all.
func TestFileWithoutTheWhole(t *testing.T) {
	t.Parallel()
	c := fitted(t, []Candidate{{Score: 2, True: true}, {Query: 1, Score: 1}})
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	curve := regexp.MustCompile(`(?s)"whole": {.*?},`)
	for name, forged := range map[string]string{"null": `"whole": null,`, "absent": ""} {
		if _, err := Parse(checksumtest.Repair(curve.ReplaceAll(text, []byte(forged)), checksumKey)); err == nil || !strings.Contains(err.Error(), "whole") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestFileWithAnUnknownKey checks that a calibration of scores that another program changed, which it says by a key, is not used.
func TestFileWithAnUnknownKey(t *testing.T) {
	t.Parallel()
	text, err := fitted(t, []Candidate{{Score: 2, True: true}, {Query: 1, Score: 1}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"split"`), []byte(`"added": "to scores", "split"`), 1)
	if _, err := Parse(checksumtest.Repair(text, checksumKey)); err == nil || !strings.Contains(err.Error(), `unknown field "added"`) {
		t.Errorf("error %v", err)
	}
}

// FuzzParse checks that every text that Parse accepts gives probabilities, and can be written.
func FuzzParse(f *testing.F) {
	c, err := Fit([]Candidate{{Score: 2, True: true}, {Query: 1, Score: 1}}, []string{"a", "b"})
	if err != nil {
		f.Fatal(err)
	}
	text, err := c.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, int32(1), float32(2))
	f.Add([]byte(`{"checksum":"`+checksum.Blank+`"}`), int32(0), float32(0))
	f.Fuzz(func(t *testing.T, text []byte, relation int32, score float32) {
		c, err := Parse(checksumtest.Repair(text, checksumKey))
		if err != nil || score != score {
			return
		}
		if p := c.Probability(relation, score); !(p >= 0 && p <= 1) {
			t.Errorf("a probability of %v", p)
		}
		if _, err := c.Encode(); err != nil {
			t.Error(err)
		}
	})
}

// Example shows how a relation is drawn to the whole.
func Example() {
	whole := Line{Intercept: logit(0.05)}
	information := matrix{aa: 0.05 * 0.95, bb: 1} // of a candidate
	for _, n := range []int{40, 4000} {
		points := make([]point, n)
		for i := range n / 4 {
			points[i].true = true
		}
		l := fit(points, prior{whole, information.times(40)})
		fmt.Printf("%d candidates: %.0f%%\n", n, 100*Sigmoid(l.Intercept))
	}
	// Output:
	// 40 candidates: 18%
	// 4000 candidates: 25%
}
