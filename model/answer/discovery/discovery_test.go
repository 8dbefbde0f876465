package discovery

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/externalsort"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
)

// TestCandidates checks that the answers of a query are facts in the right direction, whether it lists them or is
// queried for them.
func TestCandidates(t *testing.T) {
	t.Parallel()
	q := &answer.Ranked{
		Query:   graph.Query{Source: 9, Relation: 3, Answer: graph.None},
		Best:    []answer.Candidate{{Entity: 2, Score: 3, Rank: 4, Distance: 2}, {Entity: 4, Score: -2, Rank: 7, Distance: -1}},
		Results: []answer.Result{{Answer: 5, Score: 1, Rank: ranking.Rank{Pessimistic: 8, Optimistic: 6}, Distance: 3}},
	}
	want := []Candidate{
		{Fact: graph.Fact{Head: 2, Relation: 1, Tail: 9}, Inverse: true, Side: probability.Side{Score: 3, Rank: 4}, Hops: 2},
		{Fact: graph.Fact{Head: 4, Relation: 1, Tail: 9}, Inverse: true, Side: probability.Side{Score: -2, Rank: 7}, Hops: -1},
		{Fact: graph.Fact{Head: 5, Relation: 1, Tail: 9}, Inverse: true, Side: probability.Side{Score: 1, Rank: 8}, Hops: 3},
	}
	got := append(BestAnswers(q, 2), LabelledAnswers(q, 2)...)
	if d := diff.Diff(want, got); d != "" {
		t.Error(d)
	}
	if asked, other := got[0].Queries(2); asked != (externalsort.Row{9, 3, 2}) || other != (externalsort.Row{2, 1, 9}) {
		t.Errorf("%+v is an answer of %v and %v", got[0], asked, other)
	}
	q.Relation = 1
	tail := BestAnswers(q, 2)[0]
	if d := diff.Diff(graph.Fact{Head: 9, Relation: 1, Tail: 2}, tail.Fact); d != "" || tail.Inverse {
		t.Errorf("%+v\n%s", tail, d)
	}
	if asked, other := tail.Queries(2); asked != (externalsort.Row{9, 1, 2}) || other != (externalsort.Row{2, 3, 9}) {
		t.Errorf("%+v is an answer of %v and %v", tail, asked, other)
	}
	for _, c := range append(got, tail) {
		if d := diff.Diff(c, read(c.Row())); d != "" {
			t.Error(d)
		}
	}
}

// TestJoin checks that both observations of a fact are joined, that hops are those of the query for tails, and that a
// fact with one side is an error.
func TestJoin(t *testing.T) {
	t.Parallel()
	loop, fact := graph.Fact{Head: 1, Tail: 1}, graph.Fact{Head: 1, Relation: 1, Tail: 2}
	candidates := []Candidate{
		{Fact: fact, Inverse: true, Side: probability.Side{Score: -1, Rank: 3}, Hops: -1},
		{Fact: loop, Side: probability.Side{Score: 4, Rank: 1}},
		{Fact: fact, Side: probability.Side{Score: 5, Rank: 2}, Hops: 2},
		{Fact: loop, Inverse: true, Side: probability.Side{Score: 6, Rank: 9}},
	}
	join := func(candidates []Candidate) (got []probability.Observation, err error) {
		var rows []externalsort.FactRow
		for _, c := range candidates {
			rows = append(rows, c.Row())
		}
		slices.SortFunc(rows, externalsort.FactRow.Compare)
		add, end := Join(func(o *probability.Observation) error {
			got = append(got, *o)
			return nil
		})
		for _, r := range rows {
			if err := add(r); err != nil {
				return got, err
			}
		}
		return got, end()
	}
	got, err := join(candidates)
	want := []probability.Observation{
		{Fact: loop, Tails: probability.Side{Score: 4, Rank: 1}, Heads: probability.Side{Score: 6, Rank: 9}},
		{Fact: fact, Tails: probability.Side{Score: 5, Rank: 2}, Heads: probability.Side{Score: -1, Rank: 3}, Hops: 2},
	}
	if d := diff.Diff(want, got); d != "" || err != nil {
		t.Errorf("error %v\n%s", err, d)
	}
	for missing := range candidates {
		_, err := join(slices.Delete(slices.Clone(candidates), missing, missing+1))
		if err == nil || !strings.Contains(err.Error(), "one side is missing") {
			t.Errorf("without candidate %d: error %v", missing, err)
		}
	}
}

// TestLacking compares with sets of answers.
func TestLacking(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	type tagged struct {
		externalsort.Row
		tag int
	}
	var rows []tagged
	listed, wanted := map[externalsort.Row]bool{}, map[externalsort.Row]bool{}
	for range 300 {
		r := externalsort.Row{random.Int32N(6), random.Int32N(3), random.Int32N(20)}
		if of := []map[externalsort.Row]bool{listed, wanted}[len(rows)%2]; !of[r] {
			rows = append(rows, tagged{r, len(rows) % 2})
			of[r] = true
		}
	}
	slices.SortFunc(rows, func(a, b tagged) int { return cmp.Or(a.Compare(b.Row), cmp.Compare(a.tag, b.tag)) })
	got := map[externalsort.Row]bool{}
	var queries []graph.Query
	add, end := Lacking(func(q graph.Query, answers []int32) error {
		queries = append(queries, q)
		for _, entity := range answers {
			got[externalsort.Row{q.Source, q.Relation, entity}] = true
		}
		if len(answers) == 0 || !slices.IsSorted(answers) {
			t.Errorf("%+v is queried for %v", q, answers)
		}
		return nil
	})
	for _, r := range rows {
		if err := add(r.Row, r.tag); err != nil {
			t.Fatal(err)
		}
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	for r := range listed {
		delete(wanted, r)
	}
	if d := diff.Diff(wanted, got); d != "" || len(wanted) < 20 {
		t.Error(d)
	}
	if n := len(slices.Compact(slices.Clone(queries))); n != len(queries) {
		t.Errorf("%d queries are queried twice", len(queries)-n)
	}
}

// someEntries returns random entries of many equal values.
func someEntries(n int) []Entry {
	random := rand.New(rand.NewPCG(3, 4))
	number := func() float64 {
		values := []float64{0, math.Copysign(0, -1), -1.5, 1.5, 1e-300, -1e-300, .25, 1, -7, 123456.789}
		return values[random.IntN(len(values))]
	}
	entries := make([]Entry, n)
	for i := range entries {
		e := &entries[i]
		e.Fact = graph.Fact{Head: random.Int32N(3), Relation: random.Int32N(2), Tail: int32(i)}
		e.Tails = probability.Side{Score: float32(number()), Rank: 1 + random.Int64N(5)}
		e.Heads = probability.Side{Score: float32(number()), Rank: 1 + random.Int64N(5)}
		e.Hops = random.Int32N(4) - 1
		e.LogOdds = number()
		if e.HasProbability = random.IntN(4) > 0; e.HasProbability {
			e.Probability = math.Abs(number())
		}
	}
	return entries
}

// TestRecords checks that records sort as entries do, and that entries come back whole.
func TestRecords(t *testing.T) {
	t.Parallel()
	entries := someEntries(300)
	for i := range entries {
		e := &entries[i]
		if got := EntryOf(e.Record()); got != *e {
			t.Fatalf("%+v, want %+v", got, *e)
		}
		for j := range entries {
			o := &entries[j]
			if got, want := e.Record().Compare(o.Record()), e.Compare(o); got != want {
				t.Fatalf("the record of %+v compares as %d with that of %+v, want %d", *e, got, *o, want)
			}
		}
	}
}

// TestBest checks that the first entries of a list are kept, in whatever order they come, and that the list is ordered
// by probability, log odds, the lower score and the fact.
func TestBest(t *testing.T) {
	t.Parallel()
	entries := someEntries(300)
	want := slices.Clone(entries)
	slices.SortStableFunc(want, func(a, b Entry) int {
		p := func(e Entry) float64 {
			if e.HasProbability {
				return e.Probability
			}
			return -1
		}
		lower := func(e Entry) float32 { return min(e.Tails.Score, e.Heads.Score) }
		return cmp.Or(cmp.Compare(p(b), p(a)), cmp.Compare(b.LogOdds, a.LogOdds), cmp.Compare(lower(b), lower(a)), a.Fact.Compare(b.Fact))
	})
	for _, most := range []int{0, 1, 17, 300, 400} {
		best := Best{Most: most}
		for _, e := range entries {
			best.Add(e)
		}
		best.Sort()
		if !slices.Equal(best.Entries, want[:min(most, 300)]) {
			t.Errorf("with %d at most: %+v", most, best.Entries)
		}
	}
}
