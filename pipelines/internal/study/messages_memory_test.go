package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestMessagesMemory holds that a budget too small is refused with the least that does, before anything is
// removed; and that the budget changes no byte.
func TestMessagesMemory(t *testing.T) {
	for _, split := range []string{"test", "train"} {
		root := prepared(t, false)
		arguments := []string{"--workspace", root, "--split", split, "--layers", "3"}
		pipelinetest.Succeed(t, Messages(), arguments...)
		path := filepath.Join(root, "runs/main/messages", split, "messages", "part-00000-of-00001.parquet")
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		with := func(memory int) (int, string) {
			code, _, stderr := pipelinetest.Run(t, Messages(), append(arguments, "--force", "--memory", fmt.Sprint(memory))...)
			return code, stderr
		}
		code, stderr := with(1)
		_, rest, _ := strings.Cut(stderr, "takes at least ")
		least, err := strconv.Atoi(strings.Fields(rest + " ")[0])
		if code != command.ExitUsage || err != nil || strings.Count(stderr, "\n") != 1 {
			t.Fatalf("%s: exit %d, %q", split, code, stderr)
		}
		if code, stderr := with(least - 2); code != command.ExitUsage {
			t.Errorf("%s: less than the least: exit %d, %q", split, code, stderr)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: a refused run removed what was there: %v", split, err)
		}
		if code, stderr := with(least); code != 0 {
			t.Errorf("%s: the least that would do does not: exit %d, %q", split, code, stderr)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%s: %d bytes with the least memory, %d with the default, %v", split, len(got), len(want), err)
		}
	}
	if code, _, stderr := pipelinetest.Run(t, Messages(), "--workspace", t.TempDir(), "--memory", "0"); code != command.ExitUsage || !strings.HasPrefix(stderr, "--memory is 0") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}
