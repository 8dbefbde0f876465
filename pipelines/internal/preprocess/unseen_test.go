package preprocess

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/model/graph"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestUnseen warns of facts about entities that the graph of their split lacks, each by its name.
func TestUnseen(t *testing.T) {
	files := map[string]string{"train.txt": "a\tr\tb\nb\tr\tc\n", "valid.txt": "a\tr\tc\nnew\tr\tb\n", "test.txt": "a\tr\tlate\nlate\tr\tlater\nc\tr\ta\n"}
	inference := map[string]string{"train.txt": "x\tr\ty\n", "test.txt": "x\tr\tz\ny\tr\tx\n"}
	const ofValid = `warning: 1 of 2 facts of valid (50.0%) are about an entity without a fact in the training graph, such as "new": no path leads there`
	for name, c := range map[string]struct {
		flags []string
		says  []string
	}{
		"one graph": {nil, []string{ofValid,
			`warning: 2 of 3 facts of test (66.7%) are about an entity without a fact in the training graph, such as "late": no path leads there`}},
		"two graphs": {[]string{"--inference", pipelinetest.Dataset(t, inference)},
			[]string{ofValid,
				`warning: 1 of 2 facts of test (50.0%) are about an entity without a fact in the inference graph, such as "z": no path leads there`}},
	} {
		out := pipelinetest.Succeed(t, Pipeline(), append(c.flags, "--workspace", t.TempDir(), "--dataset", pipelinetest.Dataset(t, files))...)
		for _, want := range c.says {
			if !strings.Contains(out, "  "+want+"\n") {
				t.Errorf("%s: no %q in %s", name, want, out)
			}
		}
	}
	whole := pipelinetest.Succeed(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("n", 12)))
	if strings.Contains(whole, "warning: ") {
		t.Errorf("a warning about no fact: %s", whole)
	}
}

// TestRepeatedFactsNameTheirFile names the file that holds repeated facts as the user did.
func TestRepeatedFactsNameTheirFile(t *testing.T) {
	text := ""
	for _, f := range nations()["train"] {
		text += strings.Join(f[:], ",") + "\n"
	}
	folder := pipelinetest.Dataset(t, map[string]string{"people.csv": "a,r,b\n" + text + "a,r,b\n", "other.csv": text})
	for _, flags := range [][]string{nil, {"--split", "50,25,25"}} {
		w := t.TempDir()
		for range 2 { // the second run describes the complete graph
			out := pipelinetest.Succeed(t, Pipeline(), append(flags, "--workspace", w, "--dataset", filepath.Join(folder, "people.csv"))...)
			if !strings.Contains(out, "repeated facts in people.csv\n") && !strings.Contains(out, "1 repeated fact in people.csv\n") {
				t.Errorf("%q: no file of the repeated facts: %s", flags, out)
			}
		}
	}
}

// TestHeldOutFactsOfJoinedEntities counts those of two entities that a training fact joins, in either direction.
func TestHeldOutFactsOfJoinedEntities(t *testing.T) {
	files := pipelinetest.Dataset(t, map[string]string{
		"train.txt": "a\tr\tb\nb\tr\tc\nc\tr\td\nd\ts\ta\n", "valid.txt": "b\ts\ta\na\ts\tc\n", "test.txt": "a\ts\tb\nb\ts\tb\nc\ts\tb\na\tr\td\n",
	})
	w := t.TempDir()
	for range 2 { // the second run describes the complete graph
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", files)
		if want := "held-out facts of two entities that a fact of the graph joins: valid 1 of 2 (50.0%), test 3 of 4 (75.0%)\n"; !strings.Contains(out, want) {
			t.Errorf("want %q: %s", want, out)
		}
	}
	// Of many pairs, some are searched.
	p := newHeldPairs([]graph.Query{{Source: 1, Answer: 2}, {Source: 2, Answer: 1}, {Source: 3, Answer: 2}, {Source: 2, Answer: 3}})
	p.join(2, 1)
	p.join(1, 3)
	p.stride = 2
	if got := p.text(); got != "about 2 of 4 (50.0%)" {
		t.Errorf("every second pair: %s", got)
	}
}
