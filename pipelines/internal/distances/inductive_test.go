package distances

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// inductiveSets holds a folder for each training graph, and one with _ind at the end for its
// inference graph.
const inductiveSets = "../../../../shared/data/inductive"

// TestJoinOnInductiveGraphs holds that every inductive dataset gets the same bytes by a join
// as on a worker that holds the graph: its training graph, which valid queries, and its inference
// graph, which test queries.
func TestJoinOnInductiveGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("short: eight datasets take half a minute")
	}
	folders, err := filepath.Glob(filepath.Join(inductiveSets, "*_ind"))
	if err != nil || len(folders) == 0 {
		t.Skipf("no datasets at %s (%v)", inductiveSets, err)
	}
	for _, inference := range folders {
		training := strings.TrimSuffix(inference, "_ind")
		t.Run(filepath.Base(training), func(t *testing.T) {
			root := t.TempDir()
			pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", root, "--dataset", training, "--inference", inference)
			for _, split := range []string{"valid", "test"} {
				manifests := map[string][]byte{}
				for _, method := range []string{worker, join} {
					pipelinetest.Succeed(t, Pipeline(), "--workspace", root, "--split", split, "--method", method, "--force")
					data, err := os.ReadFile(filepath.Join(root, "distances", split, "manifest.json"))
					if err != nil {
						t.Fatal(err)
					}
					manifests[method] = data // with the hash of every file
				}
				if !bytes.Equal(manifests[worker], manifests[join]) {
					t.Errorf("%s: the files differ", split)
				}
			}
		})
	}
}
