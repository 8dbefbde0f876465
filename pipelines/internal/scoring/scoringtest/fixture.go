// Package scoringtest makes the workspaces that the tests of score, ask and discover begin with.
package scoringtest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weightstest"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/encode"
)

// Trained returns a workspace with the model of a ring: "plain", "typed" with entity types, or "inductive" with the
// ring of other entities as its inference graph; or "chain", a poor one of random facts and such an inference graph.
func Trained(t testing.TB, kind string) string {
	t.Helper()
	return pipelinetest.Template(t, kind, func(workspace string) {
		if kind == "chain" {
			pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace,
				"--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 40)), "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(2, "o", 80)))
			pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")
			return
		}
		entities := 60
		if kind == "large" {
			entities = 160 // with enough validation facts to fit probabilities of a list to
		}
		arguments := []string{"--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", entities))}
		if kind == "inductive" {
			arguments = append(arguments, "--inference", pipelinetest.Dataset(t, pipelinetest.Ring("o", 40)))
		}
		if kind == "typed" {
			var types strings.Builder
			for i := range 60 {
				fmt.Fprintf(&types, "e%03d\t%s\n", i, []string{"Fizz", "Rest", "Rest"}[i%3])
			}
			arguments = append(arguments, "--types", File(t, "types.tsv", types.String()))
		}
		pipelinetest.Succeed(t, preprocess.Pipeline(), arguments...)
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "3", "--dim", "8", "--epochs", "3", "--learning_rate", "0.02",
			"--negatives", "8")
	})
}

// WordNet returns a workspace of a ring with three of WN18RR's relations.
func WordNet(t testing.TB) string {
	t.Helper()
	files := pipelinetest.RenamedRing("e", 30, "_hypernym", "_has_part", "_verb_group")
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, files))
	return w
}

// File writes a file into a new folder and returns its path.
func File(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	pipelinetest.Write(t, path, text)
	return path
}

// ULTRAFile writes a file of weights drawn from a seed.
func ULTRAFile(t testing.TB, change func(tensors []safetensors.Tensor[float32])) string {
	t.Helper()
	weights := weightstest.Drawn(3).Tensors
	if change != nil {
		change(weights)
	}
	return File(t, "drawn.pth", string(weightstest.File(t, weights)))
}

// Model opens the best checkpoint of a workspace over the graph of a name, as kg.KG.On takes it, with the probabilities
// of answers, or nil, as ask and discover have them.
func Model(t testing.TB, workspace, on string) (*answer.Model, *probability.Estimator) {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := encode.Load(t.Context(), filepath.Join(workspace, kg.Folder))
	fail(err)
	k, err := kernel.Named("")
	fail(err)
	m, err := answer.Open(t.Context(), loaded, pretrained.Ref{Folder: checkpoint.FolderOf(workspace, "main"), Name: "best"},
		answer.Resources{Kernel: k, Threads: 2})
	fail(err)
	if on != kg.All {
		return m, nil
	}
	m, err = m.OverAllFacts(t.Context())
	fail(err)
	_, err = m.ReadProbabilities(t.Context(), filepath.Join(workspace, answer.ProbabilitiesFolder))
	fail(err)
	estimator, err := m.Estimator(probability.Presumed{Missing: probability.DefaultMissing, Guessed: true})
	if errors.Is(err, probability.ErrTooFew) {
		return m, nil
	}
	fail(err)
	return m, estimator
}
