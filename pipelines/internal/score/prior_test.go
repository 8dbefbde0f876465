package score

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tagnet/formats/manifest"
	"tagnet/formats/parquet"
	"tagnet/model"
	"tagnet/model/checkpoint"
	"tagnet/model/graph"
	"tagnet/model/kg"
	"tagnet/model/prior"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/train"
)

// withPrior returns a workspace whose model is poor and has a prior of a weight that is not 0, and the values over its inference graph.
func withPrior(t *testing.T) (workspace string, loaded *kg.KG, added *prior.Added) {
	t.Helper()
	w := trained(t, "chain")
	pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--resume", "--prior")
	m, err := manifest.Read(t.Context(), filepath.Join(w, kg.Folder))
	if err != nil {
		t.Fatal(err)
	}
	if loaded, err = kg.Load(t.Context(), filepath.Join(w, kg.Folder), m); err != nil {
		t.Fatal(err)
	}
	folder := checkpoint.Folder(filepath.Join(w, "runs/main/checkpoints"))
	record, err := folder.Record(t.Context(), "best")
	if err != nil {
		t.Fatal(err)
	}
	p, err := folder.Prior(t.Context(), record, loaded.Relations)
	if err != nil {
		t.Fatal(err)
	}
	if p.Beta == 0 {
		p.Weight = prior.Weight{Beta: .3, Cap: 6}
		if err := folder.SavePrior(t.Context(), record, p); err != nil {
			t.Fatal(err)
		}
	}
	return w, loaded, p.Of(loaded.Inference.Graph)
}

// TestPrior compares the scores of answers with and without the prior, whose share the explanation prints and the library returns, and
// checks that the two count as different, and that probabilities belong to one of them.
func TestPrior(t *testing.T) {
	w, loaded, added := withPrior(t)
	asked := []string{"--workspace", w, "--relation", "all", "--output", "mine", "--top_k", "1000", "--explain"}
	scores := func(arguments ...string) (map[string]parquet.Prediction, string) {
		out := pipelinetest.Succeed(t, Pipeline(), append(asked, arguments...)...)
		rows := map[string]parquet.Prediction{}
		for _, p := range rowsOf[parquet.Prediction](t, filepath.Join(w, "runs/main/evaluation/mine/predictions")) {
			rows[fmt.Sprint(p.Source, p.Relation, p.Entity)] = p
		}
		return rows, out
	}
	with, out := scores()
	code, _, stderr := pipelinetest.Run(t, Pipeline(), append(asked, "--prior=false")...)
	if code == 0 || !strings.Contains(stderr, "prior differs") {
		t.Errorf("the same without the prior: %d, %s", code, stderr)
	}
	without, plain := scores("--prior=false", "--force")
	if strings.Contains(plain, "the relations of the answer") || !strings.Contains(plain, "no calibration for scores without a prior") {
		t.Error(plain)
	}
	lookup, changed := kg.NewLookup(loaded.Inference.Entities, loaded.Relations), 0
	for key, p := range with {
		query, err := lookup.Query(t.Context(), p.Source, p.Relation, false)
		if err != nil {
			t.Fatal(err)
		}
		entity, err := lookup.Entity(t.Context(), p.Entity)
		if err != nil {
			t.Fatal(err)
		}
		share := added.Share(query.Relation, entity)
		if share != 0 {
			changed++
		}
		if p.Score != without[key].Score+share || without[key].Probability != nil {
			t.Fatalf("%+v, want a share of %v and no probability without: %+v", p, share, without[key])
		}
	}
	if changed == 0 || len(with) != len(without) {
		t.Errorf("the prior changes %d of %d scores", changed, len(with))
	}
	shown := regexp.MustCompile(`(?m)^ +(\S+)  of the score: the relations of the answer`).FindStringSubmatch(out)
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range with {
		if p.Query != 0 || p.Position != 1 { // the first that is printed
			continue
		}
		query := model.Query{Source: p.Source, Relation: p.Relation}
		answers, err := m.Ask(t.Context(), query, 1)
		if err != nil {
			t.Fatal(err)
		}
		share, ok, err := m.Prior(t.Context(), query, p.Entity)
		if err != nil || !ok || answers[0].Entity != p.Entity || answers[0].Score != p.Score || shown == nil || shown[1] != model.FormatWeight(float64(share)) {
			t.Errorf("the library answers %+v, share %v %v, %v; want %+v, and as printed: %q", answers[0], share, ok, err, p, shown)
		}
	}
}

// TestPriorOfTriples checks that a fact that leaves the graph for its own query leaves the relations of its two ends, too.
func TestPriorOfTriples(t *testing.T) {
	w, loaded, added := withPrior(t)
	g := loaded.Inference.Graph
	senders, relations := g.In(3)
	at := 0
	for int(relations[at]) >= g.BaseRelations {
		at++
	}
	fact := graph.Fact{Head: senders[at], Relation: relations[at], Tail: 3}
	line := fmt.Sprintf("%s\t%s\t%s\n", loaded.Inference.Entities[fact.Head], loaded.Relations[fact.Relation], loaded.Inference.Entities[fact.Tail])
	score := func(arguments ...string) parquet.Triple {
		pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--queries", file(t, "triples.tsv", line), "--force"}, arguments...)...)
		return rowsOf[parquet.Triple](t, filepath.Join(w, "runs/main/evaluation/triples/triples"))[0]
	}
	with, without := score(), score("--prior=false")
	want := make([]float32, g.Entities)
	added.Add(fact.Relation, g.RemovalOf(fact.Head, fact.Relation, fact.Tail), want)
	if got := with.TailScore - without.TailScore; !(math.Abs(float64(got-want[3])) <= 1e-5) || want[3] == added.Share(fact.Relation, 3) {
		t.Errorf("the prior adds %v, want %v, which differs from %v of the whole graph", got, want[3], added.Share(fact.Relation, 3))
	}
}

// TestNoPrior checks the errors about a prior that is missing or damaged.
func TestNoPrior(t *testing.T) {
	w := trained(t, "plain")
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--prior"); code == 0 || !strings.Contains(stderr, "--prior: epoch-001 has none") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Write(t, filepath.Join(w, "runs/main/checkpoints/epoch-001.prior.safetensors"), "{}")
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w); code == 0 || !strings.Contains(stderr, "train --workspace "+w+" --resume --prior fits it again, --prior=false scores without it") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--prior=false")
}
