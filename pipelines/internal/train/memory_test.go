package train

import (
	"maps"
	"path/filepath"
	"regexp"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// tooSmall matches the refusal of --memory 10 and captures the least that is enough.
var tooSmall = regexp.MustCompile(`^--memory 10 is too small: training on this graph with 3 threads takes at least (\d+) MiB, each thread \d+ of them; give --memory (\d+) or fewer --threads, or a --reach .*\n$`)

// TestLeastMemoryIsEnough trains with a budget that is too small, which leaves what is there, and
// then with the least that the refusal names.
func TestLeastMemoryIsEnough(t *testing.T) {
	w := ring(t, 60)
	flags := func(more ...string) []string { return small(w, append([]string{"--threads", "3"}, more...)...) }
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), flags("--epochs", "1")...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	before := pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints"))
	var least string
	for _, again := range [][]string{{"--epochs", "1", "--force"}, {"--epochs", "2", "--resume"}} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), flags(append(again, "--memory", "10")...)...)
		found := tooSmall.FindStringSubmatch(stderr)
		if code != 2 || found == nil || found[1] != found[2] {
			t.Fatalf("%v: exit code %d: %s", again, code, stderr)
		}
		if after := pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")); !maps.Equal(before, after) {
			t.Errorf("%v changed the checkpoints", again)
		}
		least = found[1]
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), flags("--epochs", "2", "--resume", "--memory", least)...); code != 0 {
		t.Errorf("exit code %d with --memory %s: %s", code, least, stderr)
	}
}
