package train

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/metrics"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/nbfnet"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/score"
)

// weightsFile has three layers of four dimensions over three relations, whose embeddings depend on the query.
const weightsFile = "../../../model/nbfnet/testdata/pna_dependent.pth"

// from returns the flags of a short training from weights whose relations are those of a ring.
func from(t testing.TB, workspace string, more ...string) []string {
	t.Helper()
	relations := filepath.Join(t.TempDir(), "relations.txt")
	pipelinetest.Write(t, relations, "skip\nnext\nback\n")
	flags := []string{"--workspace", workspace, "--from", weightsFile, "--relation_names", relations, "--message", "distmult", "--negatives", "8", "--epochs", "2"}
	return append(flags, more...)
}

// TestTrainFromIsCompared validates the weights of --from before the training, once, and says whether an epoch is better.
func TestTrainFromIsCompared(t *testing.T) {
	const none = "no epoch is better than the weights of --from: use these, with go run ./pipelines/score --workspace "
	w := ring(t, 40)
	flags := []string{"--workspace", w, "--from", "zero", "--negatives", "8"}
	_, out, shown := pipelinetest.Run(t, Pipeline(), append(flags, "--learning_rate", "1e-12")...)
	if n := strings.Count(shown, "before the training: validation MRR 0."); n != 1 || !strings.Contains(out, none+w+" --model zero\n") {
		t.Errorf("it is shown %d times:\n%s%s", n, shown, out)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), append(flags, "--learning_rate", "1e-12", "--reach", "12", "--run", "within")...); !strings.Contains(out, none+w+" --run within --model zero --reach 12\n") {
		t.Errorf("with a reach:\n%s", out)
	}
	pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--model", "zero", "--split", "valid", "--run", "zero", "--calibrate=false")
	want, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(w, "runs/zero/evaluation/valid/metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	start := func() metrics.Valid {
		t.Helper()
		r, err := checkpoint.Folder(filepath.Join(w, "runs/main/checkpoints")).Record(t.Context(), "last")
		if err != nil || r.Start == nil {
			t.Fatalf("%v, %+v", err, r)
		}
		return *r.Start
	}
	if got := start(); got.Queries != want.Queries || got.Pessimistic != want.Pessimistic {
		t.Errorf("the start has %+v, scoring gives %+v", got, want.Summary)
	}
	out = pipelinetest.Succeed(t, Pipeline(), append(flags, "--force", "--learning_rate", "0.01")...)
	if !strings.Contains(out, "before the training: validation MRR 0.") || strings.Contains(out, none) {
		t.Errorf("a training that learns:\n%s", out)
	}
	_, _, shown = pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume", "--epochs", "2")
	if got := start(); got.Pessimistic != want.Pessimistic || strings.Contains(shown, "before the training") {
		t.Errorf("a second epoch has the start %+v, want %+v:\n%s", got.Pessimistic, want.Pessimistic, shown)
	}
}

// TestTrainFromWeights trains with a learning rate so small that the weights stay those of the file.
func TestTrainFromWeights(t *testing.T) {
	for _, more := range [][]string{nil, {"--workers", "2", "--local_steps", "2"}, {"--policy", "window", "--delta", "1"}} {
		t.Run(strings.Join(more, " "), func(t *testing.T) {
			w := ring(t, 40)
			out := pipelinetest.Succeed(t, Pipeline(), append(from(t, w, "--learning_rate", "1e-12", "--preset", "wn18rr-specific", "--epochs", "1"), more...)...)
			if !strings.Contains(out, "weights of "+weightsFile+": NBFNet of 3 layers, 4 dimensions, pna, distmult") || strings.Contains(out, "resuming") {
				t.Errorf("output:\n%s", out)
			}
			folder := checkpoint.Folder(filepath.Join(w, "runs", "main", "checkpoints"))
			r, weights, err := folder.Load(t.Context(), "epoch-001")
			if err != nil {
				t.Fatal(err)
			}
			policy := "full"
			if len(more) > 0 && more[0] == "--policy" {
				policy = more[1]
			}
			if c := r.Configuration; c.Policy != policy || c.Layers != 3 || c.Dim != 4 || !c.Dependent || c.DeltaMode != "fixed" || c.Negatives != 8 || r.Step == 0 {
				t.Errorf("the record is %+v", r)
			}
			if r.Origin == nil || r.Origin.File != "pna_dependent.pth" || len(r.Origin.SHA256) != 64 || len(r.Origin.Relations) != 64 {
				t.Errorf("the origin is %+v", r.Origin)
			}
			want := ofFile(t, "skip", "next", "back")
			for _, tensor := range weights {
				for i, v := range want[tensor.Name] {
					if !(math.Abs(float64(tensor.Data[i]-v)) <= 1e-6) {
						t.Fatalf("%s[%d] is %g, the file has %g", tensor.Name, i, tensor.Data[i], v)
					}
				}
			}
		})
	}
}

// ofFile returns the parameters of the file over the relations of the ring.
func ofFile(t *testing.T, listed ...string) map[string][]float32 {
	t.Helper()
	file, err := os.Open(weightsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	w, err := nbfnet.Read(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Configuration(configuration.Default(), nbfnet.Options{Message: "distmult"})
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := w.Parameters(c, listed, []string{"back", "next", "skip"})
	if err != nil {
		t.Fatal(err)
	}
	tensors := map[string][]float32{}
	for _, tensor := range set.Tensors {
		tensors[tensor.Name] = tensor.Data
	}
	return tensors
}

// TestResumeFromWeights interrupts a training from weights after each checkpoint: it ends with the same bytes.
func TestResumeFromWeights(t *testing.T) {
	w := ring(t, 40)
	folder := filepath.Join(w, "runs", "main", "checkpoints")
	pipelinetest.Succeed(t, Pipeline(), from(t, w)...)
	whole := unfinish(t, folder, "epoch-002")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"unfinished training", "--resume", "--from"}}, from(t, w)...)
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume") // the record has the rest
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	unfinish(t, folder, "epoch-002")
	pipelinetest.Succeed(t, Pipeline(), from(t, w, "--resume")...)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	pipelinetest.Remove(t, folder) // then it starts from the file
	pipelinetest.Succeed(t, Pipeline(), from(t, w, "--resume")...)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)

	other := from(t, w)
	other[3] = filepath.Join(t.TempDir(), "other.pth")
	text, err := os.ReadFile(weightsFile)
	if err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, other[3], string(text))
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"from.file", "--force"}}, other...)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"from.file is", "--resume"}}, append(other, "--epochs", "3", "--resume")...)
}

func TestFromIsRefused(t *testing.T) {
	w := finished(t)
	folder := filepath.Join(w, "runs", "main", "checkpoints")
	before := pipelinetest.Files(t, folder)
	few := filepath.Join(t.TempDir(), "relations.txt")
	pipelinetest.Write(t, few, "skip\nnext\nbackwards\n")
	for name, f := range map[string]struct {
		code      int
		says      []string
		arguments []string
	}{
		"no relations":       {2, []string{"--from ", "add --relation_names"}, []string{"--workspace", w, "--from", weightsFile}},
		"no message":         {2, []string{"--message for ", "give distmult, transe or rotate"}, from(t, w)[:6]},
		"no weights":         {2, []string{"--relation_names describes --from"}, []string{"--workspace", w, "--relation_names", few}},
		"layers":             {2, []string{"--from " + weightsFile, "layers is 3 there, 5 here", "leave them out"}, from(t, w, "--layers", "5")},
		"bias":               {2, []string{"bias is true there, false here"}, from(t, w, "--bias=false")},
		"policy":             {2, []string{`policy is "full" there, "astar" here`}, from(t, w, "--policy", "astar")},
		"degree messages":    {2, []string{"degree_messages is false there, true here"}, from(t, w, "--policy", "window", "--degree_messages")},
		"missing":            {2, []string{"--from: ", "nowhere.pth"}, append(from(t, w), "--from", "nowhere.pth")},
		"no file of PyTorch": {1, []string{"--from: ", "it is not a file of torch.save"}, append(from(t, w), "--from", few)},
		"other relations":    {1, []string{"--relation_names: ", `relation "back" is not listed; closest: "backwards", `}, append(from(t, w), "--relation_names", few)},
	} {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: f.code, Says: f.says}, append(f.arguments, "--force")...)
			pipelinetest.Same(t, pipelinetest.Files(t, folder), before)
		})
	}
}
