package pipelinetest_test

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/formats/manifest"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/distances"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/workspace"
)

// appendSteps returns a run that makes a graph, and one that appends facts to it.
func appendSteps(t *testing.T) []step {
	more := filepath.Join(t.TempDir(), "more.tsv")
	pipelinetest.Write(t, more, "new\tnext\te000\ne000\tback\tnew\n")
	return []step{
		{preprocess.Pipeline, []string{"--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 30))}},
		{preprocess.Pipeline, []string{"--append", more}},
	}
}

// wholeGraph reports whether the graph of a workspace is complete and undamaged.
func wholeGraph(t *testing.T, w string) bool {
	t.Helper()
	m, err := manifest.Read(t.Context(), w+"/graph")
	return err == nil && manifest.Verify(t.Context(), w+"/graph", m) == nil
}

// graphOf returns the files of the graph of a workspace, without those of a lock.
func graphOf(files map[string]string) map[string]string {
	graph := maps.Clone(files)
	maps.DeleteFunc(graph, func(name, _ string) bool {
		return !strings.HasPrefix(name, "graph/") || strings.HasSuffix(name, "/.lock")
	})
	return graph
}

// TestAppendFails lets the storage fail from some request of an append on. The earlier graph stays usable until the new one is complete. An
// append that fails while the new one takes its place is finished by the next run, and every other command says so.
func TestAppendFails(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 50*time.Millisecond)
	w, steps := bucket+folder, appendSteps(t)
	want := reference(t, w, steps)
	restore(t, w, want[1])
	proxy.Set(nil)
	steps[1].run(t, w)
	requests := proxy.Requests()
	half := 0
	for point := range 10 {
		number := requests - point*point*requests/110 // most of them near the end, where files are copied
		restore(t, w, want[1])
		proxy.Set(gcstest.From(number, []gcstest.Fault{gcstest.Unavailable, gcstest.Reset, gcstest.Truncated}[number%3]))
		code, stderr := steps[1].run(t, w)
		proxy.Set(nil)
		t.Logf("request %d of %d: exit code %d, %s", number, requests, code, stderr)
		switch whole := wholeGraph(t, w); {
		case code == command.ExitOK:
		case whole:
			if got := graphOf(pipelinetest.Files(t, w)); got["graph/manifest.json"] == want[1]["graph/manifest.json"] {
				pipelinetest.Same(t, got, graphOf(want[1]))
			} else {
				pipelinetest.Same(t, got, graphOf(want[2]))
			}
		case !workspace.New(w).Interrupted(t.Context(), workspace.GraphFolder):
			t.Errorf("the graph is damaged, and its replacement is lost")
		default:
			half++
			pipelinetest.Fail(t, distances.Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"is half replaced", "--append FILE"}}, "--workspace", w, "--split", "test")
		}
		endProcess(t, w)
		if code, stderr := steps[1].run(t, w); code != command.ExitOK {
			t.Errorf("after the failure of request %d: exit code %d: %s", number, code, stderr)
		}
		pipelinetest.Same(t, graphOf(pipelinetest.Files(t, w)), graphOf(want[2]))
	}
	if half == 0 {
		t.Error("no failure came while the new graph took the place of the earlier one")
	}
}

// TestAppendSurvivesFaults appends to a graph in a bucket while one in eight requests fails in some temporary way.
func TestAppendSurvivesFaults(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 10*time.Second)
	w, steps := bucket+folder, appendSteps(t)
	want := reference(t, w, steps)
	restore(t, w, want[1])
	proxy.Set(gcstest.Sometimes(1, 8, gcstest.Temporary...))
	code, stderr := steps[1].run(t, w)
	proxy.Set(nil)
	if code != command.ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, w), want[2])
}

// TestAppendKilled kills appends to a local graph at random times: at each the graph is the earlier or the new one, whole.
func TestAppendKilled(t *testing.T) {
	steps := appendSteps(t)
	w := t.TempDir()
	steps[0].run(t, w)
	before := graphOf(pipelinetest.Files(t, w))
	arguments := append([]string{"--workspace", w}, steps[1].arguments...)
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
