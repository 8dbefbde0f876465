package evaluation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// asked returns a query in each direction about x likes y, which the graph states, with answers.
func asked(t *testing.T) (*graph.Graph, []answer.Request, []answer.Answers) {
	t.Helper()
	b := graph.NewBuilder(3, 2, 2)
	for _, e := range [][3]int32{{1, 2, 0}, {0, 0, 1}} {
		if err := b.Add(e[0], e[1], e[2]); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	observed := probability.Observation{
		Fact: graph.Fact{Head: 0, Relation: 0, Tail: 1}, Tails: probability.Side{Score: 1, Rank: 2}, Heads: probability.Side{Score: -1, Rank: 7}, Hops: 3,
	}
	fresh := observed
	fresh.Tail = 2
	known := answer.Estimated{Observation: observed, Estimate: probability.Estimate{Probability: .25, HasProbability: true}, Known: true}
	return g, []answer.Request{
			{Query: graph.Query{Source: 0, Relation: 0, Answer: graph.None}, Rows: []int64{4, 9}},
			{Query: graph.Query{Source: 1, Relation: 2, Answer: graph.None}, Rows: []int64{0}},
		}, []answer.Answers{
			{List: []answer.Estimated{known, {Observation: fresh, Estimate: probability.Estimate{LogOdds: 3}}}}, {List: []answer.Estimated{known}},
		}
}

func TestAnswers(t *testing.T) {
	_, queries, answers := asked(t)
	rows := someNames.Answers(queries, answers)
	p := .25
	want := []parquet.Answer{
		{Query: 4, Direction: metrics.Tail, Source: "x", Relation: "likes", Position: 1, Entity: "y", Score: 1, Rank: 2, OtherScore: -1, OtherRank: 7,
			Probability: &p, Known: true, Hops: 3},
		{Query: 4, Direction: metrics.Tail, Source: "x", Relation: "likes", Position: 2, Entity: "z", Score: 1, Rank: 2, OtherScore: -1, OtherRank: 7, Hops: 3},
		{Query: 0, Direction: metrics.Head, Source: "y", Relation: "likes", Position: 1, Entity: "x", Score: -1, Rank: 7, OtherScore: 1, OtherRank: 2,
			Probability: &p, Known: true, Hops: 3},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	storagetest.EveryField(t, rows)
	lines := "4\tx\tlikes\t2\tz\t1\t2\t-1\t7\t\tfalse\t3\n0\ty\t~likes\t1\tx\t-1\t7\t1\t2\t0.25\ttrue\t3\n"
	if got := string(AnswerLines(rows[1:])); got != lines {
		t.Errorf("%q, want %q", got, lines)
	}
}

// TestExplain checks that a fact of the graph is explained without itself.
func TestExplain(t *testing.T) {
	g, queries, answers := asked(t)
	want := []Explained{
		{Number: 4, Query: graph.Query{Source: 0, Relation: 0, Answer: 1, Removal: graph.RemoveFact}},
		{Number: 4, Query: graph.Query{Source: 0, Relation: 0, Answer: 2}},
		{Number: 0, Query: graph.Query{Source: 1, Relation: 2, Answer: 0, Removal: graph.RemoveFact}},
	}
	if diff := cmp.Diff(want, Explain(g, queries, answers)); diff != "" {
		t.Errorf("explained (-want +got):\n%s", diff)
	}
}

// TestAnswersOfHostileNames checks that names which a terminal would obey, or which would break a line, are
// written as JSON strings.
func TestAnswersOfHostileNames(t *testing.T) {
	got := string(AnswerLines([]parquet.Answer{{Source: "\x1b[31mred", Relation: "a\tb", Direction: metrics.Head, Position: 1, Entity: "x\ny"}}))
	want := "0\t\"\\u001b[31mred\"\t\"~a\\tb\"\t1\t\"x\\ny\"\t0\t0\t0\t0\t\tfalse\t0\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLeastPlausible orders triples by their estimates, and without any by the worse rank, then by the lower score.
func TestLeastPlausible(t *testing.T) {
	row := func(p, odds, tail, head float64) parquet.Triple {
		r := parquet.Triple{TailScore: float32(tail), HeadScore: float32(head), LogOdds: &odds}
		if p >= 0 {
			r.Probability = &p
		}
		return r
	}
	ordered := []parquet.Triple{row(-1, -2, 0, 0), row(-1, 9, 0, 0), row(0, 3, 9, 9), row(.1, 1, 0, 0), row(.1, 2, -9, -9), row(.1, 2, 7, -8), row(1, 0, 0, 0)}
	if !slices.IsSortedFunc(ordered, lessLikely) || lessLikely(ordered[4], ordered[5]) != -1 {
		t.Error("rows with estimates are in another order")
	}
	for i := range ordered {
		below := float64(i % 3)
		ordered[i].BelowUsual = &below
	}
	slices.SortStableFunc(ordered, LeastPlausible)
	for i := range ordered[1:] {
		if *ordered[i].BelowUsual < *ordered[i+1].BelowUsual {
			t.Errorf("%+v is before %+v", ordered[i], ordered[i+1])
		}
	}
	slices.Reverse(ordered)
	for i := range ordered {
		ordered[i].Probability, ordered[i].LogOdds, ordered[i].BelowUsual = nil, nil, nil
	}
	slices.SortStableFunc(ordered, LeastPlausible)
	for i := range ordered[1:] {
		if a, b := ordered[i], ordered[i+1]; min(a.TailScore, a.HeadScore) > min(b.TailScore, b.HeadScore) {
			t.Errorf("%+v is before %+v", a, b)
		}
	}
	ranked := []parquet.Triple{{TailScore: 9, HeadScore: 9, TailRank: 1, HeadRank: 7}, {TailScore: 3, HeadScore: 3, TailRank: 6, HeadRank: 6},
		{TailScore: 4, HeadScore: 5, TailRank: 6, HeadRank: 1}}
	if !slices.IsSortedFunc(ranked, LeastPlausible) || LeastPlausible(ranked[0], ranked[1]) != -1 || LeastPlausible(ranked[1], ranked[2]) != -1 {
		t.Error("rows without estimates are in another order")
	}
}
