package answer

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/hop"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
)

// fake scores entity o by -|o - source - relation|, without a removed answer by 100 less, and fails on demand.
type fake struct {
	fail int32
	sent int32
}

func (f *fake) ScoresWithout(_ context.Context, q graph.Query, part *parts.Subgraph, relation int32, scores []float32) error {
	if q.Source == f.fail {
		return errors.New("no luck")
	}
	f.sent = relation
	for o := range scores {
		scores[o] = -float32(math.Abs(float64(int32(o) - q.Source - relation)))
	}
	if q.Removal != graph.RemoveNothing {
		scores[q.Answer] -= 100
	}
	return nil
}

// Sent is the relation.
func (f *fake) Sent() int64 { return int64(f.sent) }

// Distance is o for entity o, up to 6.
func (f *fake) Distance(entity int32) (hops int, reached bool) {
	if entity > 6 {
		return 0, false
	}
	return int(entity), true
}

// oneGroup has all relations.
func oneGroup(int32) int32 { return 0 }

// byParity has two groups of relations.
func byParity(relation int32) int32 { return relation % 2 }

const entities = 20

// someRequests has the queries (source, relation, ?) of sources 0 to 8 and relations 0 to 9, with the
// answers source + relation, which is best, and 0; 3 is known too.
func someRequests() []Request {
	var b []Request
	row := int64(0)
	for source := range int32(9) {
		for relation := range int32(10) {
			known := []int32{0, 3, source + relation}
			slices.Sort(known)
			b = append(b, Request{
				Query: graph.Query{Source: source, Relation: relation, Answer: graph.None},
				Rows:  []int64{row, row + 1}, Answers: []int32{source + relation, 0}, Known: slices.Compact(known),
			})
			row += 2
		}
	}
	return b
}

func rank(t *testing.T, w *fake, workers int) (*Scored, int, error) {
	t.Helper()
	r := NewPool(entities, 10, workers, oneGroup, func() Worker { own := *w; return &own })
	done := make(chan int, 1000)
	s, err := r.Rank(t.Context(), someRequests(), ranking.Selection{K: 3}, func(n int) { done <- n })
	close(done)
	sum := 0
	for n := range done {
		sum += n
	}
	return s, sum, err
}

func TestRank(t *testing.T) {
	t.Parallel()
	s, done, err := rank(t, &fake{fail: -1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if done != 180 || len(s.Queries) != 90 || s.Messages != 405 {
		t.Errorf("%d rows, %d queries, %d messages", done, len(s.Queries), s.Messages)
	}
	for i, q := range s.Queries {
		target := int32(i/10 + i%10)
		if q.Source != int32(i/10) || q.Relation != int32(i%10) || q.Row != int64(2*i) {
			t.Fatalf("query %d is (%d, %d)", i, q.Source, q.Relation)
		}
		first := q.Results[0]
		if first.Rank.Pessimistic != 1 || first.Score != 0 || first.Answer != target || first.Row != int64(2*i) {
			t.Errorf("(%d, %d): %+v", q.Source, q.Relation, first)
		}
		if want := min(target, 7); (want == 7 && first.Distance != hop.Column) || (want < 7 && first.Distance != target) {
			t.Errorf("(%d, %d): distance %d of %d", q.Source, q.Relation, first.Distance, target)
		}
		if c := q.Best[0]; c.Entity != target || !c.Known || len(q.Best) != 3 {
			t.Errorf("(%d, %d): best %+v", q.Source, q.Relation, q.Best)
		}
	}
}

func TestWorkersChangeNothing(t *testing.T) {
	t.Parallel()
	want, _, err := rank(t, &fake{fail: -1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{2, 5, 100} {
		got, _, err := rank(t, &fake{fail: -1}, workers)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
}

func TestRankFails(t *testing.T) {
	t.Parallel()
	if _, _, err := rank(t, &fake{fail: 5}, 3); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("a worker's error: %v", err)
	}
	r := NewPool(entities, 10, 1, oneGroup, func() Worker { return &fake{fail: -1} })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Rank(ctx, someRequests(), ranking.Selection{K: 3}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	small := NewPool(entities-8, 10, 1, oneGroup, func() Worker { return &fake{fail: -1} })
	if _, err := small.Rank(t.Context(), someRequests(), ranking.Selection{K: 3}, nil); err == nil {
		t.Error("requests of a larger graph: no error")
	}
}

// TestRemovals ranks queries of one source, with and without removals, by groups of relations.
func TestRemovals(t *testing.T) {
	t.Parallel()
	p := NewPool(entities, 10, 2, byParity, func() Worker { return &fake{fail: -1} })
	var b []Request
	for relation := range int32(6) {
		q := Request{Query: graph.Query{Source: 2, Relation: relation, Answer: graph.None}, Rows: []int64{int64(relation)}, Answers: []int32{2 + relation}}
		if relation == 1 || relation > 2 {
			q.Answer, q.Removal = 2+relation, graph.RemoveFact
		}
		b = append(b, q)
	}
	s, err := p.Rank(t.Context(), b, ranking.Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range s.Queries {
		want := float32(0)
		if b[i].Removal != graph.RemoveNothing {
			want = -100
		}
		if q.Relation != int32(i) || q.Results[0].Score != want {
			t.Errorf("query %d is that of relation %d, whose answer has score %g, want %g", i, q.Relation, q.Results[0].Score, want)
		}
	}
}

// TestGroupsChangeNothing ranks by groups of relations.
func TestGroupsChangeNothing(t *testing.T) {
	t.Parallel()
	want, _, err := rank(t, &fake{fail: -1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(entities, 10, 3, byParity, func() Worker { return &fake{fail: -1} })
	got, err := p.Rank(t.Context(), someRequests(), ranking.Selection{K: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("by groups:\n%s", diff)
	}
}
