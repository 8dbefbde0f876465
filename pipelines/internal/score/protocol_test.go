package score

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/answer/workload"
	"tagnet/model/engine/parts"
	edges "tagnet/model/graph"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/encode"
	"tagnet/stages/stagetest"
)

// byID scores an entity by its id.
type byID struct{}

func (byID) ScoresWithout(_ context.Context, _ edges.Query, _ *parts.Subgraph, _ int32, scores []float32) error {
	for entity := range scores {
		scores[entity] = float32(entity)
	}
	return nil
}

func (byID) Sent() int64 { return 0 }

func (byID) Distance(int32) (int, bool) { return 0, true }

// TestMergedRanksByHand ranks the facts of a small inference graph, whose entities a to e have the scores 0 to 4.
//
//	train: a r b, b r c    valid: a r c    test: a r d, b r e
//
// The tails of (a, r) that are known are b, c and d, those of (b, r) c and e. The only heads that are known besides the
// answer are those of (c, ~r), which are a and b.
func TestMergedRanksByHand(t *testing.T) {
	t.Parallel()
	training := pipelinetest.Dataset(t, map[string]string{"train.txt": "x\tr\ty\n", "valid.txt": "y\tr\tx\n", "test.txt": "x\tr\tx\n"})
	inference := pipelinetest.Dataset(t, map[string]string{
		"train.txt": "a\tr\tb\nb\tr\tc\n", "valid.txt": "a\tr\tc\n", "test.txt": "a\tr\td\nb\tr\te\n",
	})
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", training, "--inference", inference)
	loaded, err := encode.Load(t.Context(), filepath.Join(w, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	of := func(p metrics.Protocol) (ranks []string) {
		queries, err := workload.List(t.Context(), loaded, workload.Params{QueriedGraph: workload.QueriedGraph{Split: "test"}, Protocol: p})
		if err != nil {
			t.Fatal(err)
		}
		scored, err := answer.NewPool(5, 2, 1, func(int32) int32 { return 0 }, func() answer.Worker { return byID{} }).Rank(t.Context(), queries,
			ranking.Selection{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range scored.Queries {
			for _, r := range q.Results {
				ranks = append(ranks, fmt.Sprintf("%s %d %s: rank %d of %d", "abcde"[q.Source:q.Source+1], q.Relation, "abcde"[r.Answer:r.Answer+1],
					r.Rank.Pessimistic, r.Rank.Candidates))
			}
		}
		return ranks
	}
	test := []string{
		"a 0 d: rank 2 of 3", // behind e; b and c are left out
		"b 0 e: rank 1 of 4",
		"d 1 a: rank 5 of 5",
		"e 1 b: rank 4 of 5",
	}
	if diff := cmp.Diff(test, of("")); diff != "" {
		t.Errorf("test facts (-want +got):\n%s", diff)
	}
	merged := []string{
		"a 0 c: rank 2 of 3", // behind e; b and d are left out
		test[0], test[1],
		"c 1 a: rank 4 of 4", // behind c, d, e; b is left out
		test[2], test[3],
	}
	if diff := cmp.Diff(merged, of(metrics.ValidAndTest)); diff != "" {
		t.Errorf("validation and test facts (-want +got):\n%s", diff)
	}
}

// TestProtocolsStandSideBySide evaluates by each protocol, and compares ranks and metrics with each other.
func TestProtocolsStandSideBySide(t *testing.T) {
	w := scoringtest.Trained(t, "inductive")
	ranks := func(name string) map[string]parquet.Ranking {
		byFact := map[string]parquet.Ranking{}
		for _, r := range stagetest.Rows[parquet.Ranking](t, filepath.Join(w, "runs/main/evaluation", name, "rankings")) {
			r.Query = 0 // its position among other queries
			byFact[strings.Join([]string{r.Direction, r.Source, r.Relation, r.Answer}, " ")] = r
		}
		return byFact
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--protocol", "test")
	if got := pipelinetest.Succeed(t, Pipeline(), "--workspace", w); !strings.Contains(got, "is complete") {
		t.Errorf("without --protocol:\n%s", got)
	}
	plain := pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation/test"))
	if strings.Contains(plain["metrics.json"]+plain["manifest.json"], "protocol") {
		t.Error("the usual protocol changes the usual files")
	}
	test := ranks("test")

	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--protocol", "valid-and-test")
	merged, m := ranks("valid-and-test"), metricsOf(t, w, "valid-and-test")
	if !strings.Contains(out, "protocol valid-and-test (validation and test facts") || !strings.Contains(out, "valid-and-test/metrics.json") {
		t.Errorf("output:\n%s", out)
	}
	if m.Protocol != metrics.ValidAndTest || m.Split != "test" || m.Queries != 16 || m.Distinct != 16 || len(merged) != 16 ||
		m.Messages <= metricsOf(t, w, "test").Messages {
		t.Errorf("%d ranks, metrics %+v", len(merged), m)
	}
	for fact, r := range test {
		if diff := cmp.Diff(r, merged[fact]); diff != "" {
			t.Errorf("%s (-test +merged):\n%s", fact, diff)
		}
	}

	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--protocol", "grail", "--seed", "3")
	sampled, m := ranks("grail"), metricsOf(t, w, "grail")
	if m.Protocol != metrics.GraIL || m.Negatives != 49 || m.Seed != 3 || len(sampled) != len(test) {
		t.Errorf("%d ranks, metrics %+v", len(sampled), m)
	}
	for fact, r := range test {
		if s := sampled[fact]; s.Candidates != 50 || s.Score != r.Score || r.RankPessimistic == 1 && s.RankPessimistic != 1 {
			t.Errorf("%s: %+v, among all entities %+v", fact, s, r)
		}
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--protocol", "grail", "--seed", "4"); code != 1 ||
		!strings.Contains(stderr, "seed is 3 there, 4 here") {
		t.Errorf("another seed: exit code %d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation/test")), plain)
}

func TestProtocolMistakes(t *testing.T) {
	plain, inductive := scoringtest.Trained(t, "plain"), scoringtest.Trained(t, "inductive")
	unvalidated := filepath.Join(t.TempDir(), "workspace")
	files := pipelinetest.Ring("o", 40)
	delete(files, "valid.txt")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", unvalidated, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 60)),
		"--inference", pipelinetest.Dataset(t, files))
	for _, c := range []struct {
		workspace, want string
		code            int
		flags           []string
	}{
		{plain, `--protocol is "filtered": want one of test, valid-and-test, grail`, 2, []string{"--protocol", "filtered"}},
		{plain, "--protocol valid-and-test is for an inductive dataset", 2, []string{"--protocol", "valid-and-test"}},
		{plain, "leave --split valid out", 2, []string{"--protocol", "grail", "--split", "valid"}},
		{unvalidated, "put some into its valid.txt and preprocess again", 1,
			[]string{"--protocol", "valid-and-test", "--model", filepath.Join(inductive, "runs/main/checkpoints/epoch-003.json")}},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), append([]string{"--workspace", c.workspace}, c.flags...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %s", c.flags, code, stderr)
		}
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", plain, "--protocol", "grail")
}
