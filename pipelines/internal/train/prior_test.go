package train

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/manifest"
	"tagnet/model/checkpoint"
	"tagnet/model/graph"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/prior"
	"tagnet/model/ranking"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestPrior checks that --prior adds the same prior to a training that is complete as to a new one, that the weight is the best by ranks that the
// test computes itself, that the calibration is of these scores, and that --resume alone keeps both.
func TestPrior(t *testing.T) {
	w := films(t)
	pipelinetest.Succeed(t, Pipeline(), small(w)...)
	folder := filepath.Join(w, "runs/main/checkpoints")
	plain := pipelinetest.Files(t, folder)
	out := pipelinetest.Succeed(t, Pipeline(), small(w, "--prior")...)
	added := pipelinetest.Files(t, folder)
	name := strings.TrimSpace(plain[checkpoint.BestFile])
	if !strings.Contains(out, "prior: validation MRR ") || !strings.Contains(out, name+".prior.safetensors") || added[name+".prior.safetensors"] == "" ||
		added[name+".safetensors"] != plain[name+".safetensors"] || added[name+".calibration.json"] == plain[name+".calibration.json"] {
		t.Errorf("%s", out)
	}
	for _, arguments := range [][]string{{"--workspace", w, "--resume"}, small(w, "--prior"), small(w)} {
		if out := pipelinetest.Succeed(t, Pipeline(), arguments...); !strings.Contains(out, "is complete") || !strings.Contains(out, "prior: ") {
			t.Errorf("%q: %s", arguments, out)
		}
	}
	pipelinetest.Same(t, pipelinetest.Files(t, folder), added)
	other := films(t)
	pipelinetest.Succeed(t, Pipeline(), small(other, "--prior", "--replicas", "3")...)
	pipelinetest.Same(t, onlyFitted(pipelinetest.Files(t, filepath.Join(other, "runs/main/checkpoints"))), onlyFitted(added))
	checkWeight(t, w)

	url := filepath.Join(folder, name+".prior.safetensors")
	pipelinetest.Write(t, url, "{}")
	for _, arguments := range [][]string{small(w), {"--workspace", w, "--resume"}} {
		_, _, stderr := pipelinetest.Run(t, Pipeline(), arguments...)
		if want := "train --workspace " + w + " --resume --prior fits it again"; !strings.Contains(stderr, url+" is damaged") || !strings.Contains(stderr, want) || strings.Contains(stderr, "--force") {
			t.Errorf("%q: %s", arguments, stderr)
		}
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume", "--prior")
	pipelinetest.Same(t, pipelinetest.Files(t, folder), added)
}

// films returns a workspace of people who like films: relations tell the two apart.
func films(t *testing.T) string {
	t.Helper()
	var train, valid, test strings.Builder
	for i := range 40 {
		fmt.Fprintf(&train, "person%02d\tlikes\tfilm%02d\nperson%02d\tknows\tperson%02d\n", i, i*7%20, i, (i+1)%40)
		for to, shift := range map[*strings.Builder]int{&train: 3, &valid: 8, &test: 11} {
			fmt.Fprintf(to, "person%02d\tlikes\tfilm%02d\n", i, (i*i+shift)%20)
		}
	}
	return prepared(t, pipelinetest.Dataset(t, map[string]string{"train.txt": train.String(), "valid.txt": valid.String(), "test.txt": test.String()}))
}

// onlyFitted returns the files that are fitted after the last epoch.
func onlyFitted(files map[string]string) map[string]string {
	fitted := map[string]string{}
	for name, content := range files {
		if strings.HasSuffix(name, ".prior.safetensors") || strings.HasSuffix(name, ".calibration.json") {
			fitted[name] = content
		}
	}
	return fitted
}

// checkWeight chooses the weight of the prior of a workspace's best checkpoint, one query and one weight at a time.
func checkWeight(t *testing.T, workspace string) {
	t.Helper()
	ctx := t.Context()
	m, err := manifest.Read(ctx, filepath.Join(workspace, kg.Folder))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := kg.Load(ctx, filepath.Join(workspace, kg.Folder), m)
	if err != nil {
		t.Fatal(err)
	}
	folder := checkpoint.Folder(filepath.Join(workspace, "runs/main/checkpoints"))
	record, weights, err := folder.Model(ctx, "best", loaded.Relations, loaded.Vocabularies()...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := folder.Prior(ctx, record, loaded.Relations)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := inference.New(loaded.Train.Graph, nil, record.Configuration, weights, k)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := loaded.Queries(ctx, "valid")
	if err != nil {
		t.Fatal(err)
	}
	known, err := loaded.Train.Answers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	worker, added := scorer.Worker(), (&prior.Prior{Counts: prior.Count(loaded.Train.Graph)}).Of(loaded.Train.Graph)
	want := prior.Prior{With: -1}
	for i, weight := range prior.Weights() {
		mrr := 0.0
		for _, q := range queries {
			scores := [][]float32{make([]float32, loaded.Train.Graph.Entities)}
			if err := worker.Scores(ctx, q.Source, []int32{q.Relation}, scores); err != nil {
				t.Fatal(err)
			}
			added.AddWeighted(weight, q.Relation, graph.Removal{}, scores[0])
			rank := ranking.Filtered(scores[0], q.Answer, known.Of(q.Source, q.Relation))
			mrr += 1 / float64(rank.Pessimistic) / float64(len(queries))
		}
		if i == 0 {
			want.Without = mrr
		}
		if mrr > want.With+1e-9 {
			want.Weight, want.With = weight, mrr
		}
	}
	near := func(a, b float64) bool { d := a - b; return d <= 1e-9 && -d <= 1e-9 }
	if got.Weight != want.Weight || !near(got.Without, want.Without) || !near(got.With, want.With) || !(want.With > want.Without) {
		t.Errorf("weight %v, MRR %v and %v; want %v, %v and %v", got.Weight, got.Without, got.With, want.Weight, want.Without, want.With)
	}
}

// TestPriorIsRefused checks the errors that are said before anything is trained.
func TestPriorIsRefused(t *testing.T) {
	w := ring(t, 40)
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--relations", "graph", "--prior")
	if code == 0 || !strings.Contains(stderr, "a model with --relations graph knows none by name: leave it out") {
		t.Errorf("relations from a graph: %d, %s", code, stderr)
	}
	files := pipelinetest.Ring("e", 40)
	delete(files, "valid.txt")
	code, _, stderr = pipelinetest.Run(t, Pipeline(), small(prepared(t, pipelinetest.Dataset(t, files)), "--prior")...)
	if code == 0 || !strings.Contains(stderr, "--prior: there are no validation queries") {
		t.Errorf("no validation queries: %d, %s", code, stderr)
	}
}
