package train

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }

// prepared returns a workspace with the graph of a dataset.
func prepared(t testing.TB, dataset string) string {
	t.Helper()
	workspace := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", dataset)
	return workspace
}

// ring returns a workspace with the graph of a ring of entities.
func ring(t testing.TB, entities int) string {
	t.Helper()
	return pipelinetest.Template(t, fmt.Sprint("ring-", entities), func(workspace string) {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", entities)))
	})
}

// finished returns a workspace with the complete training of small over a ring of 40 entities.
func finished(t testing.TB) string {
	t.Helper()
	return pipelinetest.Template(t, "finished", func(workspace string) {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 40)))
		pipelinetest.Succeed(t, Pipeline(), small(workspace)...)
	})
}

// small returns the flags of a training that takes a second.
func small(workspace string, more ...string) []string {
	return append([]string{"--workspace", workspace, "--layers", "3", "--dim", "8", "--epochs", "4", "--negatives", "8", "--dropout", "0.1"}, more...)
}
