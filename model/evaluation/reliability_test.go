package evaluation

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/answer"
	"tagnet/model/calibration"
	"tagnet/model/graph"
)

// manyQueries returns bundles of queries about the relations likes, in both directions, and knows, which has too few. Each
// has an answer, a known answer of another split, and a candidate that is neither.
func manyQueries() (bundles []*answer.Scored) {
	for i := range int64(calibration.MinQueries) {
		s := &answer.Scored{}
		for _, relation := range []int32{0, 2, 1} {
			if relation == 1 && i == 0 {
				continue
			}
			s.Queries = append(s.Queries, answer.Ranked{Query: graph.Query{Relation: relation}, Row: 3*i + int64(relation), Results: []answer.Result{{Answer: 1}}, Best: []answer.Candidate{
				{Entity: 2, Score: 9, Known: true}, {Entity: 1, Score: 2 + float32(i%3), Known: true}, {Entity: 0, Score: 1},
			}})
		}
		bundles = append(bundles, s)
	}
	return bundles
}

func TestReliabilityOfPredictions(t *testing.T) {
	t.Parallel()
	c, err := calibration.Fit([]calibration.Candidate{{Score: 4, True: true}, {Score: 3, True: true}, {Query: 1, Score: 1}, {Query: 1, Score: 0}}, []string{"likes", "knows"})
	if err != nil {
		t.Fatal(err)
	}
	c.Split, c.TopK = "valid", 10
	bundles := manyQueries()
	whole := NewGatherer()
	for _, s := range bundles {
		whole.AddReliability(s, []string{"likes", "knows"}, c)
	}
	got := whole.Calibration(c)
	n := int64(calibration.MinQueries)
	if got.Candidates != 2*(3*n-1) || got.True != 3*n-1 || got.Observed != 0.5 || got.Split != "valid" || got.TopK != 10 || got.BaseRate != 0.5 {
		t.Errorf("%+v", got)
	}
	if likes := got.ByRelation["likes"]; len(got.ByRelation) != 1 || likes.Queries != 2*n || likes.Candidates != 4*n || !(likes.Before > 0) || likes.After == likes.Before {
		t.Errorf("by relation: %+v", got.ByRelation)
	}
	// Counts that shards gathered, and that were sent to be merged, are the same.
	merged := NewGatherer()
	for i := range bundles {
		shard := NewGatherer()
		shard.AddReliability(bundles[len(bundles)-1-i], []string{"likes", "knows"}, c)
		merged.Merge(sent(t, shard))
	}
	if diff := cmp.Diff(got, merged.Calibration(c)); diff != "" {
		t.Errorf("merged (-whole +merged):\n%s", diff)
	}
	if math.IsNaN(got.After.Error) || NewGatherer().Calibration(c) != nil {
		t.Error("a calibration of nothing")
	}
}
