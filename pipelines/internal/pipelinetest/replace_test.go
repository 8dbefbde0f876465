package pipelinetest_test

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// graphOf returns the files of the graph of a workspace, without those of a lock.
func graphOf(files map[string]string) map[string]string {
	graph := maps.Clone(files)
	maps.DeleteFunc(graph, func(name, _ string) bool {
		return !strings.HasPrefix(name, "graph/") || strings.HasSuffix(name, "/.lock")
	})
	return graph
}

// TestReplacingKilled kills preprocess --force at random times: at each the graph is the earlier or the new one, whole,
// and the next run replaces it.
func TestReplacingKilled(t *testing.T) {
	w := t.TempDir()
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 30)))
	before := graphOf(pipelinetest.Files(t, w))
	arguments := []string{"--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("o", 20)), "--force"}
	begun := time.Now()
	pipelinetest.Kill(t, time.Hour, arguments...)
	life := time.Since(begun)
	want := graphOf(pipelinetest.Files(t, w))
	random := rand.New(rand.NewPCG(1, 1))
	kills := 0
	for range 8 {
		restore(t, w, before)
		killed, _ := pipelinetest.Kill(t, time.Duration(random.Int64N(int64(life))), arguments...)
		got := graphOf(pipelinetest.Files(t, w))
		if killed && got["graph/manifest.json"] == before["graph/manifest.json"] {
			kills++
			pipelinetest.Same(t, got, before)
			pipelinetest.Kill(t, time.Hour, arguments...)
			got = graphOf(pipelinetest.Files(t, w))
		}
		pipelinetest.Same(t, got, want)
	}
	if kills == 0 {
		t.Error("every kill came too late")
	}
}
