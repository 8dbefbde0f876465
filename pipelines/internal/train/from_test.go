package train

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/score"
)

// fullWeights returns the folder of the two checkpoints of a training with policy full over the ring of 40 entities:
// three layers of four dimensions.
func fullWeights(t testing.TB) string {
	t.Helper()
	workspace := pipelinetest.Template(t, "full", func(workspace string) {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 40)))
		pipelinetest.Succeed(t, Pipeline(), "--workspace", workspace, "--policy", "full", "--layers", "3", "--dim", "4", "--negatives", "8", "--epochs", "2")
	})
	return filepath.Join(workspace, "runs/main/checkpoints")
}

// from returns the flags of a short training from the first checkpoint of a folder.
func from(workspace, folder string, more ...string) []string {
	return append([]string{"--workspace", workspace, "--from", filepath.Join(folder, "epoch-001.safetensors"), "--negatives", "8", "--epochs", "2"}, more...)
}

// TestTrainFromIsCompared validates the weights of --from before the training, once, and says whether
// an epoch is better.
func TestTrainFromIsCompared(t *testing.T) {
	const none = "no epoch is better than the weights of --from: use these, with go run ./pipelines/score --workspace "
	w := ring(t, 40)
	flags := []string{"--workspace", w, "--from", "zero", "--negatives", "8"}
	_, out, shown := pipelinetest.Run(t, Pipeline(), append(flags, "--learning_rate", "1e-12")...)
	if n := strings.Count(shown, "before the training: validation MRR 0."); n != 1 || !strings.Contains(out, none+w+" --model zero\n") {
		t.Errorf("it is shown %d times:\n%s%s", n, shown, out)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), append(flags, "--learning_rate", "1e-12", "--reach", "12", "--run", "within")...); !strings.Contains(out,
		none+w+" --run within --model zero --reach 12\n") {
		t.Errorf("with a reach:\n%s", out)
	}
	pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--model", "zero", "--split", "valid", "--run", "zero")
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
	out = pipelinetest.Succeed(t, Pipeline(), append(flags, "--force", "--learning_rate", "0.003")...)
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
	given := checkpoint.Folder(fullWeights(t))
	_, want, err := given.Load(t.Context(), "epoch-001")
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"--workers", "2", "--local_steps", "2"}, {"--policy", "window"}} {
		t.Run(strings.Join(more, " "), func(t *testing.T) {
			w := ring(t, 40)
			flags := from(w, string(given), "--learning_rate", "1e-12", "--preset", "wn18rr-specific", "--epochs", "1")
			out := pipelinetest.Succeed(t, Pipeline(), append(flags, more...)...)
			if !strings.Contains(out, "weights of "+flags[3]+": 3 layers, 4 dimensions, validation MRR 0.") {
				t.Errorf("output:\n%s", out)
			}
			if strings.Contains(out, "resuming") {
				t.Errorf("the output says that a training resumes:\n%s", out)
			}
			r, weights, err := checkpoint.Folder(filepath.Join(w, "runs", "main", "checkpoints")).Load(t.Context(), "epoch-001")
			if err != nil {
				t.Fatal(err)
			}
			policy := "full"
			if len(more) > 0 && more[0] == "--policy" {
				policy = more[1]
			}
			if c := r.Configuration; c.Policy != policy || c.Layers != 3 || c.Dim != 4 || c.DeltaMode != "fixed" || c.Negatives != 8 || r.Step == 0 {
				t.Errorf("the record is %+v", r)
			}
			if r.Origin == nil || r.Origin.File != "epoch-001.safetensors" || len(r.Origin.SHA256) != 64 || len(r.Origin.Relations) != 64 {
				t.Errorf("the origin is %+v", r.Origin)
			}
			for i, tensor := range weights {
				for j, v := range want[i].Data {
					if !(math.Abs(float64(tensor.Data[j]-v)) <= 1e-6) {
						t.Fatalf("%s[%d] is %g, the file has %g", tensor.Name, j, tensor.Data[j], v)
					}
				}
			}
		})
	}
}

// TestResumeFromWeights interrupts a training from weights after each checkpoint: it ends with the same bytes.
func TestResumeFromWeights(t *testing.T) {
	w, given := ring(t, 40), fullWeights(t)
	folder := filepath.Join(w, "runs", "main", "checkpoints")
	pipelinetest.Succeed(t, Pipeline(), from(w, given)...)
	whole := unfinish(t, folder, "epoch-002")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"unfinished training", "--resume", "--from"}},
		from(w, given)...)
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume") // the record has the rest
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	unfinish(t, folder, "epoch-002")
	pipelinetest.Succeed(t, Pipeline(), from(w, given, "--resume")...)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	pipelinetest.Remove(t, folder) // then it starts from the file
	pipelinetest.Succeed(t, Pipeline(), from(w, given, "--resume")...)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)

	other := from(w, given)
	other[3] = filepath.Join(given, "epoch-002.safetensors")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"from.file", "--force"}}, other...)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"from.file is", "--resume"}},
		append(other, "--epochs", "3", "--resume")...)
}

func TestFromIsRefused(t *testing.T) {
	w, given := finished(t), fullWeights(t)
	folder := filepath.Join(w, "runs", "main", "checkpoints")
	before := pipelinetest.Files(t, folder)
	text := filepath.Join(t.TempDir(), "text")
	pipelinetest.Write(t, text, "skip\n")
	for name, f := range map[string]struct {
		code      int
		says      []string
		arguments []string
	}{
		"layers":             {2, []string{"--from " + given, "layers is 3 there, 5 here", "leave them out"}, from(w, given, "--layers", "5")},
		"policy":             {2, []string{`policy is "full" there, "astar" here`}, from(w, given, "--policy", "astar")},
		"missing":            {2, []string{"--from: ", "nowhere.pth"}, append(from(w, given), "--from", "nowhere.pth")},
		"no file of PyTorch": {1, []string{"--from: ", "it is not a file of torch.save"}, append(from(w, given), "--from", text)},
		"other relations": {2, []string{"--from wn18rr_v1: the model does not know 3 of the graph's relations"},
			append(from(w, given), "--from", "wn18rr_v1")},
	} {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: f.code, Says: f.says}, append(f.arguments, "--force")...)
			pipelinetest.Same(t, pipelinetest.Files(t, folder), before)
		})
	}
}
