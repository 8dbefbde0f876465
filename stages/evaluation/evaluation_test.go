package evaluation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/hop"
	"tagnet/formats/names"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/discovery"
	"tagnet/model/answer/explanation"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/ranking"
	"tagnet/model/answer/rules"
	"tagnet/model/engine/propagation"
	"tagnet/model/graph"
)

// someScores returns two bundles: four queries, three of them distinct, over entities x, y and z and
// the base relations likes and knows.
func someScores() []*answer.Scored {
	rank := func(pessimistic, optimistic int64) ranking.Rank {
		return ranking.Rank{Pessimistic: pessimistic, Optimistic: optimistic, Candidates: 3}
	}
	return []*answer.Scored{
		{Messages: 5, Queries: []answer.Ranked{
			{Query: graph.Query{Source: 0, Relation: 0}, Row: 2, Results: []answer.Result{
				{Row: 2, Answer: 1, Score: 3, Rank: rank(1, 1), Distance: 2},
				{Row: 3, Answer: 2, Score: 0, Rank: rank(2, 1), Distance: hop.Column},
			}, Best: []answer.Candidate{{Entity: 1, Score: 3, Known: true, Distance: 2}}},
		}},
		{Messages: 7, Queries: []answer.Ranked{
			{Query: graph.Query{Source: 1, Relation: 2}, Row: 0, Results: []answer.Result{{Row: 0, Answer: 0, Score: 1, Rank: rank(2, 2), Distance: 2}},
				Best: []answer.Candidate{{Entity: 2, Score: 0, Distance: hop.Column}}},
			{Query: graph.Query{Source: 2, Relation: 3}, Row: 1, Results: []answer.Result{{Row: 1, Answer: 0, Score: 1, Rank: rank(1, 1), Distance: 0}}},
		}},
	}
}

var someNames = Names{Entity: func(id int32) string { return []string{"x", "y", "z"}[id] }, Relations: []string{"likes", "knows"}}

func gather(all ...*answer.Scored) *Gatherer {
	g := NewGatherer()
	for _, s := range all {
		g.Add(s, someNames.Relations)
	}
	return g
}

// sent returns a Gatherer as it arrives behind a barrier.
func sent(t *testing.T, g *Gatherer) *Gatherer {
	t.Helper()
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	read := NewGatherer()
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	return read
}

// Whatever the order and the grouping in which bundles are gathered, and across a barrier, the same counts.
func TestMergedCountsAreTheSame(t *testing.T) {
	t.Parallel()
	all := someScores()
	want := gather(all...)
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		sum := NewGatherer()
		for _, i := range order {
			sum.Merge(sent(t, gather(all[i])))
		}
		if diff := cmp.Diff(want, sum); diff != "" {
			t.Errorf("in the order %v:\n%s", order, diff)
		}
	}
}

func TestMetrics(t *testing.T) {
	g := gather(someScores()...)
	m := g.Metrics("test", "epoch-002")
	if m.Queries != 4 || m.Distinct != 3 || m.Unreached != 1 || m.Tied != .25 || m.Messages != 12 {
		t.Errorf("%+v", m)
	}
	if m.Pessimistic.MRR != (1+.5+.5+1)/4 || m.Mean.MRR != (1+1/1.5+.5+1)/4 || m.Optimistic.MRR != (1+1+.5+1)/4 {
		t.Errorf("MRR %g, %g, %g", m.Pessimistic.MRR, m.Mean.MRR, m.Optimistic.MRR)
	}
	count := func(by map[string]metrics.Summary) map[string]int64 {
		out := map[string]int64{}
		for key, s := range by {
			out[key] = s.Queries
		}
		return out
	}
	for _, c := range []struct {
		by   map[string]metrics.Summary
		want map[string]int64
	}{
		{m.ByDirection, map[string]int64{"tail": 2, "head": 2}},
		{m.ByDistance, map[string]int64{"0": 1, "2": 2, "unreached": 1}},
		{m.ByRelation, map[string]int64{"likes": 3, "knows": 1}},
	} {
		if diff := cmp.Diff(c.want, count(c.by)); diff != "" {
			t.Error(diff)
		}
	}
}

// The keys are a contract with other programs.
func TestMetricsKeys(t *testing.T) {
	g := gather(someScores()[0])
	text, err := json.Marshal(g.Metrics("test", "epoch-002"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"split", "checkpoint", "queries", "distinct", "unreached", "tied", "pessimistic", "mean", "optimistic", "by_direction",
		"by_distance", "by_relation"} {
		if _, ok := all[key]; !ok {
			t.Errorf("no %q in %s", key, text)
		}
	}
	var kinds map[string]json.RawMessage
	if err := json.Unmarshal(all["pessimistic"], &kinds); err != nil || len(kinds) != 5 {
		t.Errorf("%s, %v", all["pessimistic"], err)
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	var rankings []parquet.Ranking
	var predictions []parquet.Prediction
	for _, s := range someScores() {
		rankings, predictions = append(rankings, someNames.Rankings(s)...), append(predictions, someNames.Predictions(s)...)
	}
	wantRankings := []parquet.Ranking{
		{Query: 2, Direction: "tail", Source: "x", Relation: "likes", Answer: "y", Score: 3, RankPessimistic: 1, RankMean: 1, RankOptimistic: 1, Candidates: 3,
			Distance: 2},
		{Query: 3, Direction: "tail", Source: "x", Relation: "likes", Answer: "z", Score: 0, RankPessimistic: 2, RankMean: 1.5, RankOptimistic: 1,
			Candidates: 3, Distance: -1},
		{Query: 0, Direction: "head", Source: "y", Relation: "likes", Answer: "x", Score: 1, RankPessimistic: 2, RankMean: 2, RankOptimistic: 2, Candidates: 3,
			Distance: 2},
		{Query: 1, Direction: "head", Source: "z", Relation: "knows", Answer: "x", Score: 1, RankPessimistic: 1, RankMean: 1, RankOptimistic: 1, Candidates: 3},
	}
	if diff := cmp.Diff(wantRankings, rankings); diff != "" {
		t.Errorf("rankings (-want +got):\n%s", diff)
	}
	wantPredictions := []parquet.Prediction{
		{Query: 2, Direction: "tail", Source: "x", Relation: "likes", Position: 1, Entity: "y", Score: 3, Known: true, Hops: 2},
		{Query: 0, Direction: "head", Source: "y", Relation: "likes", Position: 1, Entity: "z", Hops: -1},
	}
	if diff := cmp.Diff(wantPredictions, predictions); diff != "" {
		t.Errorf("predictions (-want +got):\n%s", diff)
	}
	storagetest.EveryField(t, rankings)
	storagetest.EveryField(t, predictions)
}

// TestRowsOfFacts checks the rows of triples and of new facts, with a probability and without.
func TestRowsOfFacts(t *testing.T) {
	t.Parallel()
	observed := []answer.Observed{{Number: 5, Observation: probability.Observation{
		Fact: graph.Fact{Head: 2, Relation: 1, Tail: 0}, Tails: probability.Side{Score: 1, Rank: 2}, Heads: probability.Side{Score: -1, Rank: 7}, Hops: 3,
	}}}
	triples := someNames.Triples(observed, 2, func(o *answer.Observed) bool { return o.Tail == 0 }, nil)
	wantTriples := []parquet.Triple{
		{Query: 2, Head: "z", Relation: "knows", Tail: "x", TailScore: 1, TailRank: 2, HeadScore: -1, HeadRank: 7, Known: true, Hops: 3},
	}
	if diff := cmp.Diff(wantTriples, triples); diff != "" {
		t.Errorf("triples (-want +got):\n%s", diff)
	}
	p := .25
	list := []discovery.Entry{{Observation: observed[0].Observation, Estimate: probability.Estimate{Probability: p, HasProbability: true}},
		{Observation: observed[0].Observation}}
	fact := parquet.Fact{Position: 11, Head: "z", Relation: "knows", Tail: "x", Probability: &p, TailScore: 1, TailRank: 2, HeadScore: -1, HeadRank: 7, Hops: 3}
	unknown := fact
	unknown.Position, unknown.Probability = 12, nil
	facts := someNames.Facts(list, 10)
	if diff := cmp.Diff([]parquet.Fact{fact, unknown}, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	storagetest.EveryField(t, facts)
}

// TestExplanations names the paths to the best answers of a bundle, of which those of an inverse relation are heads.
func TestExplanations(t *testing.T) {
	t.Parallel()
	weight := .5
	best := []Explained{{Number: 4, Query: graph.Query{Source: 1, Relation: 2, Answer: 2}}}
	best[0].Reasons = []rules.Reason{{Rule: rules.Rule{Body: []int32{1, 2}, Support: 7, Cases: 9}, Path: []int32{2, 0, 1}}}
	best[0].Paths = []explanation.Path{{Weight: weight,
		Edges: []propagation.Edge{{Sender: 1, Relation: 3, Receiver: 0}, {Sender: 0, Relation: 0, Receiver: 2}}}}
	rows, err := Explanations([]string{"x", "y", "z"}, someNames.Relations, best)
	if err != nil {
		t.Fatal(err)
	}
	row := parquet.Explanation{Query: 4, Direction: metrics.Head, Source: "y", Relation: "likes", Entity: "z", Path: 1}
	reason, path := row, row
	reason.Rule, reason.Support, reason.Cases, reason.Text = "knows, ~likes", 7, 9, "z -knows-> x -~likes-> y"
	reason.Steps = `[{"from":"z","relation":"knows","inverse":false,"to":"x"},{"from":"x","relation":"likes","inverse":true,"to":"y"}]`
	path.Path, path.Weight, path.Text = 2, &weight, "y -~knows-> x -likes-> z"
	path.Steps = `[{"from":"y","relation":"knows","inverse":true,"to":"x"},{"from":"x","relation":"likes","inverse":false,"to":"z"}]`
	if diff := cmp.Diff([]parquet.Explanation{reason, path}, rows); diff != "" {
		t.Error(diff)
	}
	storagetest.EveryField(t, rows)
	want := "4\ty\t~likes\tz\t1\tknows, ~likes\t7\t9\t\tz -knows-> x -~likes-> y\n4\ty\t~likes\tz\t2\t\t0\t0\t0.5\ty -~knows-> x -likes-> z\n"
	if text := string(ExplanationLines(rows)); text != want {
		t.Errorf("the lines are %q, want %q", text, want)
	}
}

// TestAgainst says which other tail and which other head rules give, the best rules alone.
func TestAgainst(t *testing.T) {
	t.Parallel()
	rule := rules.Rule{Body: []int32{0, 3}, Support: 8, Cases: 9}
	against := []rules.Reason{{Rule: rule, Path: []int32{1, 0, 4}}, {Rule: rule, Path: []int32{3, 0, 2}}, {Rule: rule, Path: []int32{1, 0, 5}},
		{Rule: rule, Path: []int32{1, 0, 6}}}
	n := Names{Entity: func(id int32) string { return fmt.Sprint("e", id) }, Relations: someNames.Relations}
	const want = "likes, ~knows gives e4 (so in 8 of 9); likes, ~knows gives the head e3 (so in 8 of 9); likes, ~knows gives e5 (so in 8 of 9)"
	if got := n.Against(graph.Fact{Head: 1, Relation: 0, Tail: 2}, against); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHostileNamesInExplanations writes lines of a graph with names that a terminal would obey.
func TestHostileNamesInExplanations(t *testing.T) {
	t.Parallel()
	row := parquet.Explanation{Direction: "tail", Source: "a\x1b[31m", Relation: "r\tx", Entity: "b", Path: 1, Rule: "r\tx", Text: "a\x1b[31m -r\tx-> b"}
	line := strings.TrimSuffix(string(ExplanationLines([]parquet.Explanation{row})), "\n")
	if fields := strings.Split(line, "\t"); len(fields) != 10 || names.Escape(line) != strings.ReplaceAll(line, "\t", `\t`) {
		t.Errorf("%d fields: %q", len(fields), line)
	}
}
