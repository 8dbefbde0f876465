package preprocess

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/counts"
	"tagnet/pipelines/internal/pipelinetest"
)

// degreesOf returns the degrees of a training text with some further entities, counted fact by fact.
func degreesOf(text string, more ...string) (d counts.Degrees) {
	in, out, both := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, name := range more {
		both[name] = 0
	}
	lines := slices.Sorted(strings.Lines(text))
	for _, line := range slices.Compact(lines) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		out[words[0]]++
		in[words[2]]++
		both[words[0]]++
		both[words[2]]++
		d.MostIn, d.MostOut = max(d.MostIn, in[words[2]]), max(d.MostOut, out[words[0]])
	}
	var sorted []int64
	for _, n := range both {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	d.Median = sorted[(len(sorted)-1)/2]
	return d
}

// TestDegrees compares the degrees of both graphs with those counted from the texts. Entities of test facts alone have
// no facts of the graph.
func TestDegrees(t *testing.T) {
	var lonely []string
	training, inference := pipelinetest.Chain(3, "e", 60), pipelinetest.Chain(4, "o", 40)
	for i := range 90 {
		name := fmt.Sprintf("lonely%02d", i)
		lonely = append(lonely, name)
		inference["test.txt"] += name + "\tr0\t" + name + "\n"
	}
	for i := range 9 { // more heads of one tail than tails of one head
		training["train.txt"] += fmt.Sprintf("e%03d\tr1\te000\n", 20+i)
	}
	// Every entity of a chain has to be in its training text, or it is lonely too.
	for i := range 60 {
		training["train.txt"] += fmt.Sprintf("e%03d\tr0\te%03d\n", i, i)
	}
	for i := range 40 {
		inference["train.txt"] += fmt.Sprintf("o%03d\tr0\to%03d\n", i, i)
	}
	w := t.TempDir()
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, training),
		"--inference", pipelinetest.Dataset(t, inference))
	s, err := counts.ReadDataset(t.Context(), filepath.Join(w, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	if want := degreesOf(training["train.txt"]); s.Degrees != want {
		t.Errorf("training graph: %+v, want %+v", s.Degrees, want)
	}
	if want := degreesOf(inference["train.txt"], lonely...); s.InferenceGraph.Degrees != want || want.Median != 0 {
		t.Errorf("inference graph: %+v, want %+v", s.InferenceGraph.Degrees, want)
	}
	if want := fmt.Sprintf("  largest in-degree%23d%18d\n", s.Degrees.MostIn, s.InferenceGraph.Degrees.MostIn); !strings.Contains(out, want) {
		t.Errorf("the output lacks %q:\n%s", want, out)
	}
}
