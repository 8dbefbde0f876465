package train

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/pipelinetest"
)

// presetFile writes a preset file with the training of small.
func presetFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "found.json")
	pipelinetest.Write(t, file, text)
	return file
}

const smallPreset = `{
  "preset": "wn-v1",
  "layers": 3, "dim": 8, "epochs": 3, "negatives": 8, "dropout": 0.1,
  "provenance": {"search": "by hand"}
}`

// TestPresetFile trains with a preset file: the same bytes as with its content as flags, and a flag changes it.
func TestPresetFile(t *testing.T) {
	w, other := ring(t, 40), ring(t, 40)
	file := presetFile(t, smallPreset)
	folder := filepath.Join(w, "runs/main/checkpoints")
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--preset", file, "--plan"); !strings.Contains(out, "nothing was submitted") {
		t.Errorf("--plan prints %s", out)
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--preset", file, "--delta", "1")
	pipelinetest.Succeed(t, Pipeline(), small(other, "--preset", "wn-v1", "--epochs", "3", "--delta", "1")...)
	pipelinetest.Same(t, weightsOf(t, folder), weightsOf(t, filepath.Join(other, "runs/main/checkpoints")))
	flags := small(other, "--preset", "wn-v1", "--delta", "1", "--resume")
	epochs := slices.Index(flags, "--epochs")
	if out := pipelinetest.Succeed(t, Pipeline(), slices.Delete(flags, epochs, epochs+2)...); !strings.Contains(out, "is complete") {
		t.Errorf("--resume trains the epochs of the preset: %s", out)
	}

	r, err := checkpoint.Folder(folder).Record(t.Context(), "last")
	if c := r.Configuration; err != nil || c.Delta != 1 || c.Dim != 8 || c.LearningRate != 1e-3 || c.Epochs != 3 {
		t.Errorf("%v: the record has %s", err, c)
	}
	if _, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--preset", file, "--delta", "1", "--resume"); !strings.Contains(out,
		"is complete") {
		t.Errorf("--resume: %s%s", out, stderr)
	}
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--preset", file, "--delta", "1", "--resume", "--epochs", "4")
	if code != 0 || !strings.Contains(stderr, "epoch 4 of 4") || strings.Contains(stderr, "epoch 3 of") {
		t.Errorf("more epochs: %d, %s", code, stderr)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Says: []string{"delta is 1 there, 3 here"}}, "--workspace", w, "--preset", file, "--resume",
		"--epochs", "5")
}

// weightsOf returns the weights and moments in a folder of checkpoints.
func weightsOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := pipelinetest.Files(t, folder)
	for name := range files {
		if !strings.HasSuffix(name, ".safetensors") {
			delete(files, name)
		}
	}
	return files
}

func TestMistakesOfPresetFiles(t *testing.T) {
	w := finished(t)
	before := pipelinetest.Files(t, w)
	file := presetFile(t, strings.Replace(smallPreset, `"dim"`, `"dims"`, 1))
	negative := presetFile(t, strings.Replace(smallPreset, "0.1", "-0.1", 1))
	for name, f := range map[string]struct {
		code   int
		begin  string
		says   []string
		preset string
	}{
		"unknown key":   {1, file + `:3:16: unknown key "dims"`, []string{"closest are dim,"}, file},
		"invalid value": {1, negative + ":3:55: dropout is -0.1", []string{"0 or more"}, negative},
		"missing":       {2, "--preset: ", []string{"does not exist; the folder ", "found.json"}, filepath.Join(filepath.Dir(file), "fund.json")},
		"a folder":      {1, "reading the preset ", []string{"is a directory"}, filepath.Dir(file)},
		"a name":        {2, `--preset: unknown preset "found"`, []string{"or a file of one: NAME.json"}, "found"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, more := range [][]string{nil, {"--resume"}, {"--plan"}, {"--force"}} {
				pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: f.code, Begin: f.begin, Says: f.says},
					slices.Concat([]string{"--workspace", w, "--preset", f.preset}, more)...)
			}
		})
	}
	pipelinetest.Same(t, pipelinetest.Files(t, w), before)
}
