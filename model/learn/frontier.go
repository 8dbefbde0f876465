package learn

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/remedy"
)

// Traits are the numbers of a graph that say which others it is like.
type Traits struct {
	Facts, Entities, Relations float64
	// Answers is the mean number of answers of a training query.
	Answers float64
}

// unlike is the factor of each trait, in the order of Traits, that makes two graphs as unlike as any other does.
var unlike = Traits{Facts: 8, Entities: 8, Relations: 4, Answers: 3}

// distance returns how unlike two graphs are, 0 for equal traits.
func (t Traits) distance(o Traits) float64 {
	square := func(a, b, factor float64) float64 {
		d := math.Log(max(1, a)/max(1, b)) / math.Log(factor)
		return d * d
	}
	return square(t.Facts, o.Facts, unlike.Facts) + square(t.Entities, o.Entities, unlike.Entities) +
		square(t.Relations, o.Relations, unlike.Relations) + square(t.Answers, o.Answers, unlike.Answers)
}

// Frontier has, for some graphs, the quality that a few choices of hyperparameters have reached after
// numbers of queries.
type Frontier []GraphCurves

// GraphCurves is a graph of a Frontier.
type GraphCurves struct {
	Name string
	Traits
	// Curves has the points of each choice, by its flags of train, from few queries to many.
	Curves map[string][]Point
}

// Point is the validation MRR of a training of so many queries, whose learning rate decreased until its end.
type Point struct{ Queries, MRR float64 }

//go:embed frontier.tsv
var frontierTable string

// Measured returns the frontier of frontier.tsv, which says how its points are made.
func Measured() Frontier {
	var f Frontier
	for line := range strings.Lines(frontierTable) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t") // graph, facts, entities, relations, answers, flags, queries, MRR
		at := slices.IndexFunc(f, func(s GraphCurves) bool { return s.Name == cells[0] })
		if at < 0 {
			at = len(f)
			f = append(f, GraphCurves{cells[0], Traits{number(cells[1]), number(cells[2]), number(cells[3]), number(cells[4])}, map[string][]Point{}})
		}
		f[at].Curves[cells[5]] = append(f[at].Curves[cells[5]], Point{number(cells[6]), number(cells[7])})
	}
	return f
}

// number returns a number of the table, which a test reads.
func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("frontier.tsv: " + err.Error())
	}
	return x
}

// Choices returns the flags of all choices, sorted.
func (f Frontier) Choices() []string {
	var all []string
	for _, s := range f {
		for choice := range s.Curves {
			if !slices.Contains(all, choice) {
				all = append(all, choice)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Expect returns the quality to expect of a choice after a number of queries on a graph: a share of the best MRR of the
// graphs that it is like. It is 0 if the choice was never measured. A choice counts as 0 on a graph where only others
// were measured, unless it begins with weights, which may have seen that graph.
func (f Frontier) Expect(graph Traits, choice string, queries int64) float64 {
	sum, weights := 0., 0.
	for _, s := range f {
		curve := s.Curves[choice]
		if len(curve) == 0 && strings.Contains(choice, remedy.Flag("from").String()) {
			continue
		}
		weight := math.Exp(-2*graph.distance(s.Traits)) + 1e-6
		sum, weights = sum+weight*mrrAt(curve, float64(queries))/s.best(), weights+weight
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// Nearest returns the graphs that one is most like, at most n.
func (f Frontier) Nearest(graph Traits, n int) []string {
	sorted := slices.Clone(f)
	slices.SortStableFunc(sorted, func(a, b GraphCurves) int { return cmp.Compare(graph.distance(a.Traits), graph.distance(b.Traits)) })
	var names []string
	for _, s := range sorted[:min(n, len(sorted))] {
		names = append(names, s.Name)
	}
	return names
}

// best returns the best MRR of all choices.
func (s GraphCurves) best() float64 {
	best := 0.
	for _, curve := range s.Curves {
		for _, p := range curve {
			best = max(best, p.MRR)
		}
	}
	return best
}

// mrrAt returns the MRR of a curve after a number of queries: linear in the logarithm of the queries from 0 on, and
// constant after the last point.
func mrrAt(curve []Point, queries float64) float64 {
	before := Point{}
	for _, p := range curve {
		if queries < p.Queries {
			share := (math.Log1p(queries) - math.Log1p(before.Queries)) / (math.Log1p(p.Queries) - math.Log1p(before.Queries))
			return before.MRR + share*(p.MRR-before.MRR)
		}
		before = p
	}
	return before.MRR
}
