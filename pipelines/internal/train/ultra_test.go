package train

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/weightstest"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/report"
	"tagnet/pipelines/internal/score"
)

// ultraWeights returns a file of drawn weights of ULTRA.
func ultraWeights(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "drawn.pth")
	pipelinetest.Write(t, name, string(weightstest.File(t, weightstest.Drawn(3).Tensors)))
	return name
}

// fromULTRA returns the flags of a short training of ULTRA's weights.
func fromULTRA(workspace, weights string, more ...string) []string {
	return append([]string{"--workspace", workspace, "--from", weights, "--negatives", "8", "--batch_size", "16", "--epochs", "3"}, more...)
}

// TestTrainULTRA trains weights further: the loss falls, and neither threads nor interruptions change a byte. The last
// checkpoint is scored as any.
func TestTrainULTRA(t *testing.T) {
	w, weights := ring(t, 40), ultraWeights(t)
	out := pipelinetest.Succeed(t, Pipeline(), fromULTRA(w, weights, "--threads", "1")...)
	if !strings.Contains(out, "weights of "+weights+": ULTRA, 6 layers") || !strings.Contains(out, "probabilities presume that 5.0% of the facts are missing") {
		t.Errorf("output:\n%s", out)
	}
	folder := filepath.Join(w, "runs/main/checkpoints")
	whole := pipelinetest.Files(t, folder)
	pipelinetest.Succeed(t, Pipeline(), fromULTRA(w, weights, "--threads", "3", "--force")...)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	r := usable(t, w, .95, "The training began with the weights of drawn.pth, which decide the architecture.")
	if c := r.Configuration; c.Relations != configuration.RelationsGraph || c.LearningRate != 5e-4 || c.Negatives != 8 || r.Origin == nil ||
		r.Origin.File != "drawn.pth" {
		t.Errorf("the record is %+v", r)
	}
}

// usable checks that the loss of a training of three epochs falls below a share of the first, that the training resumes
// with the same bytes, that its model answers on its own graph and on another one, and that the report has a text. It
// returns the last record.
func usable(t *testing.T, w string, falls float64, text string) checkpoint.Record {
	t.Helper()
	folder := filepath.Join(w, "runs/main/checkpoints")
	history, err := metrics.ReadHistory(t.Context(), filepath.Join(w, "runs/main/training.jsonl"))
	if err != nil || len(history) != 3 || !(history[2].Loss < falls*history[0].Loss) || history[2].Valid == nil {
		t.Errorf("epochs %+v, %v; want three with a loss that falls", history, err)
	}
	r, err := checkpoint.Folder(folder).Record(t.Context(), "epoch-003")
	if err != nil {
		t.Fatal(err)
	}
	whole := unfinish(t, folder, "epoch-003")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume")
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w)
	elsewhere(t, filepath.Join(folder, "best"))
	answersInTheLibrary(t, w)
	pipelinetest.Succeed(t, report.Pipeline(), "--workspace", w)
	if page := pipelinetest.Read(t, w, "report", "index.html"); !strings.Contains(page, text) {
		t.Errorf("the report does not say %q", text)
	}
	return r
}

// TestTrainRelationsFromAGraph trains a model from scratch whose relations come from their graph, with a window.
func TestTrainRelationsFromAGraph(t *testing.T) {
	w := ring(t, 40)
	flags := []string{
		"--workspace", w, "--preset", presetFile(t, `{"relations": "graph", "relation_layers": 2}`), "--layers", "4", "--dim", "8", "--delta", "3",
		"--aggregate", "sum",
		"--negatives", "8", "--epochs", "3",
	}
	pipelinetest.Succeed(t, Pipeline(), flags...)
	r := usable(t, w, .9, "relation_<wbr>layers")
	if c := r.Configuration; c.Relations != configuration.RelationsGraph || c.RelationLayers != 2 || c.Policy != configuration.PolicyWindow || r.Origin != nil {
		t.Errorf("the record is %+v", r)
	}
	for name, f := range map[string]struct{ says, flag string }{
		"another source": {`relations is "graph" there, absent here`, "--relations=table"},
		"no source":      {`--relations is "names.txt": want one of linear, table, graph`, "--relations=names.txt"},
		"policy":         {"--policy is astar: want window or full, with relations from a graph", "--policy=astar"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, _, stderr := pipelinetest.Run(t, Pipeline(), append(flags, "--resume", "--epochs", "4", f.flag)...); code == 0 ||
				!strings.Contains(stderr, f.says) {
				t.Errorf("%d: %s", code, stderr)
			}
		})
	}
}

// answersInTheLibrary asks the library what score answers.
func answersInTheLibrary(t *testing.T, w string) {
	t.Helper()
	opened, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := opened.Ask(t.Context(), model.Query{Source: "e001", Relation: "next"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	why, err := opened.Explain(t.Context(), model.Query{Source: "e001", Relation: "next"}, answers.List[0].Entity, 1, model.Walks())
	if err != nil || len(why.Paths) != 1 {
		t.Errorf("explaining: %v, %v", why.Paths, err)
	}
	queries := filepath.Join(t.TempDir(), "queries.tsv")
	pipelinetest.Write(t, queries, "e001\tnext\n")
	out := pipelinetest.Succeed(t, ask.Pipeline(), "--workspace", w, "--queries", queries)
	for _, a := range answers.List {
		if !strings.Contains(out, a.Entity) {
			t.Errorf("the library answers %v, score:\n%s", answers, out)
		}
	}
	if len(answers.List) != 3 || answers.List[0].Probability == nil {
		t.Errorf("the library answers %v, want three with probabilities", answers)
	}
}

// elsewhere asks a checkpoint of three epochs without weights of relations over a graph with other entities and
// relations, for which probabilities are fitted there.
func elsewhere(t *testing.T, checkpoint string) {
	t.Helper()
	files := pipelinetest.RenamedRing("f", 30, "after", "before", "beside")
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, files))
	in := []string{"--workspace", w, "--model", checkpoint}
	before := pipelinetest.Files(t, filepath.Dir(checkpoint))
	out := pipelinetest.Succeed(t, ask.Pipeline(), append(in, "--relation", "after")...)
	if !strings.Contains(out, "f000  after  ?") || !strings.Contains(out, "probability") {
		t.Errorf("over another graph, score says:\n%s", out)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Dir(checkpoint)), before)
	fittedOf(t, w)
	pipelinetest.Succeed(t, score.Pipeline(), in...)
	if out := pipelinetest.Succeed(t, report.Pipeline(), "--workspace", w); !strings.Contains(out, "The model is epoch-00") {
		t.Errorf("the report of another graph says:\n%s", out)
	}
}

// TestTrainULTRAOtherwise trains the weights further by two workers, and on parts of the graph: a reach has no weights.
func TestTrainULTRAOtherwise(t *testing.T) {
	for _, more := range [][]string{{"--workers", "2", "--local_steps", "1", "--dropout", ".1"}, {"--reach", "10", "--reach_negatives", ".5"}} {
		out := pipelinetest.Succeed(t, Pipeline(), fromULTRA(ring(t, 40), ultraWeights(t), append(more, "--epochs", "1")...)...)
		if !strings.Contains(out, "best: epoch 1, validation MRR") {
			t.Errorf("%q: output:\n%s", more, out)
		}
	}
}

func TestTrainULTRAIsRefused(t *testing.T) {
	w, weights := finished(t), ultraWeights(t)
	folder := filepath.Join(w, "runs", "main", "checkpoints")
	before := pipelinetest.Files(t, folder)
	cut := filepath.Join(t.TempDir(), "cut.pth")
	whole := pipelinetest.Read(t, weights)
	pipelinetest.Write(t, cut, whole[:len(whole)/2])
	for name, f := range map[string]struct {
		code int
		says []string
		more []string
	}{
		"preset":    {2, []string{"--preset sets an architecture"}, []string{"--preset", "wn18rr"}},
		"layers":    {2, []string{"the flags do not fit its weights (layers is 6 there, 4 here)"}, []string{"--layers", "4"}},
		"dim":       {2, []string{"the flags do not fit its weights (dim is 64 there, 32 here)"}, []string{"--dim", "32"}},
		"window":    {2, []string{"policy is \"full\" there, \"window\" here", "loses much of their quality"}, []string{"--policy", "window"}},
		"delta":     {2, []string{"the flags do not fit its weights (delta is 0 there, 2 here)"}, []string{"--delta", "2"}},
		"device":    {1, []string{"no CUDA driver"}, []string{"--device", "cuda"}},
		"cut short": {1, []string{"--from: ", "its zip archive is cut short or damaged"}, []string{"--from", cut}},
		"memory":    {2, []string{"--memory", "training on this graph with 1 thread takes at least"}, []string{"--memory", "20"}},
	} {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: f.code, Says: f.says}, append(fromULTRA(w, weights, "--force"), f.more...)...)
			pipelinetest.Same(t, pipelinetest.Files(t, folder), before)
		})
	}
}
