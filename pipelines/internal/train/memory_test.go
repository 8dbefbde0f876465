package train

import (
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/graph"
)

// TestMemoryBoundsTheGraph loads a graph and compares what is held with the formula.
func TestMemoryBoundsTheGraph(t *testing.T) {
	w := ring(t, 4000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	loaded, err := graph.Load(filepath.Join(w, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	queries, err := loaded.Queries(t.Context(), "train")
	if err != nil {
		t.Fatal(err)
	}
	known, err := loaded.TrainAnswers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := loaded.Train.Answers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held, bound := int64(after.HeapAlloc)-int64(before.HeapAlloc), loaded.Memory(len(queries), known, all)
	if held > bound || bound > 2*held {
		t.Errorf("%d bytes are held, the formula says %d", held, bound)
	}
	runtime.KeepAlive(loaded)
}

// TestTheLeastMemoryDoes asks for too little, and then for what the error names.
func TestTheLeastMemoryDoes(t *testing.T) {
	w := ring(t, 60)
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--epochs", "1", "--memory", "10", "--replicas", "3")...)
	found := regexp.MustCompile(`--memory is 10: want (\d+) MiB or more: .*graph \d+, .*3 threads \d+`).FindStringSubmatch(stderr)
	if code != 2 || found == nil {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	least, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	// The distances, which are not known before they are bundled, are a MiB at most here.
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--epochs", "1", "--memory", strconv.Itoa(least+2), "--replicas", "3")...); code != 0 {
		t.Errorf("exit code %d with --memory %d: %s", code, least+2, stderr)
	}
}

// TestTooLittleMemoryTakesNothingAway asks for a new training with what does before the bundles
// are there, and no more: the refusal that comes then leaves the old one.
func TestTooLittleMemoryTakesNothingAway(t *testing.T) {
	w := ring(t, 4000)
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--epochs", "1", "--replicas", "1")...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	before := pipelinetest.Files(t, filepath.Join(w, "checkpoints"))
	_, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--epochs", "1", "--memory", "10", "--replicas", "1")...)
	found := regexp.MustCompile(`want (\d+) MiB or more: .*, and what the distances of its bundles take`).FindStringSubmatch(stderr)
	if found == nil {
		t.Fatalf("too little memory: %s", stderr)
	}
	for _, again := range [][]string{{"--epochs", "1", "--force"}, {"--epochs", "2", "--resume"}} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, append(again, "--memory", found[1], "--replicas", "1")...)...)
		if code != 2 || !regexp.MustCompile(`want \d+ MiB or more: .*distances \d+`).MatchString(stderr) {
			t.Fatalf("%v: exit code %d: %s", again, code, stderr)
		}
		if after := pipelinetest.Files(t, filepath.Join(w, "checkpoints")); !maps.Equal(before, after) {
			t.Errorf("%v: the checkpoints are %v, were %v", again, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
		}
	}
}
