package score

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }

// trained returns a workspace with the model of a ring: "plain", "typed" with entity types, or "inductive" with the ring of
// other entities as its inference graph; or "chain", a poor one of random facts and such an inference graph.
func trained(t testing.TB, kind string) string {
	t.Helper()
	return pipelinetest.Template(t, kind, func(workspace string) {
		if kind == "chain" {
			pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace,
				"--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 40)), "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(2, "o", 80)))
			pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")
			return
		}
		entities := 60
		if strings.HasPrefix(kind, "large") {
			entities = 300 // with enough validation facts to fit probabilities of a list to
		}
		arguments := []string{"--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", entities))}
		if strings.HasSuffix(kind, "inductive") {
			arguments = append(arguments, "--inference", pipelinetest.Dataset(t, pipelinetest.Ring("o", 40)))
		}
		if kind == "typed" {
			var types strings.Builder
			for i := range 60 {
				fmt.Fprintf(&types, "e%03d\t%s\n", i, []string{"Fizz", "Rest", "Rest"}[i%3])
			}
			arguments = append(arguments, "--types", file(t, "types.tsv", types.String()))
		}
		pipelinetest.Succeed(t, preprocess.Pipeline(), arguments...)
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "3", "--dim", "8", "--epochs", "3", "--learning_rate", "0.02", "--negatives", "8")
	})
}

// file writes a file into a new folder and returns its path.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	pipelinetest.Write(t, path, text)
	return path
}
