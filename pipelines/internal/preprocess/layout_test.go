package preprocess

import (
	"maps"
	"strings"
	"testing"

	"tagnet/formats/workspace/counts"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestFoldersOfTwoGraphs reads the files of ILPC, InGram, WikiTopics and Hamaguchi's benchmark as they come: the tables
// are those of two folders.
func TestFoldersOfTwoGraphs(t *testing.T) {
	train, inference := pipelinetest.Ring("n", 12), pipelinetest.Ring("m", 9)
	for name, c := range map[string]struct{ folder, train, inference map[string]string }{
		"ILPC": {
			map[string]string{"train.txt": train["train.txt"], "inference.txt": inference["train.txt"], "inference_validation.txt": inference["valid.txt"],
				"inference_test.txt": inference["test.txt"]},
			map[string]string{"train.txt": train["train.txt"]}, inference,
		},
		"InGram": {
			map[string]string{"train.txt": train["train.txt"], "msg.txt": inference["train.txt"], "valid.txt": inference["valid.txt"],
				"test.txt": inference["test.txt"]},
			map[string]string{"train.txt": train["train.txt"]}, inference,
		},
		"WikiTopics": {
			map[string]string{"train.txt": train["train.txt"], "msg.txt": inference["train.txt"], "valid.txt": train["valid.txt"],
				"test.txt": inference["test.txt"]},
			map[string]string{"train.txt": train["train.txt"], "valid.txt": train["valid.txt"]},
			map[string]string{"train.txt": inference["train.txt"], "test.txt": inference["test.txt"]},
		},
		"HM": {
			map[string]string{"train.txt": train["train.txt"], "valid.txt": train["valid.txt"], "inference.txt": inference["train.txt"],
				"inference_test.txt": inference["test.txt"]},
			map[string]string{"train.txt": train["train.txt"], "valid.txt": train["valid.txt"]},
			map[string]string{"train.txt": inference["train.txt"], "test.txt": inference["test.txt"]},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, two, alone, one := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
			folder, of := pipelinetest.Dataset(t, c.folder), pipelinetest.Dataset(t, c.inference)
			out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", folder)
			both := []string{"--workspace", two, "--dataset", pipelinetest.Dataset(t, c.train), "--inference", of}
			if c.train["valid.txt"] == "" {
				both = append(both, "--validate_on", "inference")
			}
			pipelinetest.Succeed(t, Pipeline(), both...)
			pipelinetest.Same(t, factTables(t, w), factTables(t, two))
			if !strings.Contains(out, "inference graph") || strings.Contains(out, "not read:") {
				t.Errorf("of two graphs: %s", out)
			}
			pipelinetest.Succeed(t, Pipeline(), "--workspace", alone, "--dataset", folder, "--inference_only")
			pipelinetest.Succeed(t, Pipeline(), "--workspace", one, "--dataset", of)
			pipelinetest.Same(t, factTables(t, alone), factTables(t, one))
		})
	}
}

// TestInferenceOnly wants a folder of two graphs, and is what the error of a relation that only the
// inference graph has advises.
func TestInferenceOnly(t *testing.T) {
	ring := pipelinetest.Ring("n", 12)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage,
		Says: []string{"--inference_only: ", "does not have the files of two graphs"}}, "--workspace", t.TempDir(), "--dataset", pipelinetest.Dataset(t, ring),
		"--inference_only")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage, Says: []string{"--inference_only takes one of the two graphs"}},
		"--workspace", t.TempDir(), "--inference_only")
	files := maps.Clone(ring)
	files["msg.txt"], files["test.txt"] = "a\tother\tb\nb\tnext\ta\n", "b\tother\ta\n"
	folder, w := pipelinetest.Dataset(t, files), t.TempDir()
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure,
		Says: []string{`msg.txt:1: relation "other" is in no training fact`, "with --inference_only where one folder has both graphs"}}, "--workspace", w,
		"--dataset", folder)
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", folder, "--inference_only")
	if s, err := counts.ReadDataset(t.Context(), w+"/graph"); err != nil || s.Facts != 2 || s.Relations != 2 || s.InferenceGraph != nil {
		t.Errorf("%+v, %v", s, err)
	}
}
