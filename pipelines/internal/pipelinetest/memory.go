package pipelinetest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tagnet/pipelines/internal/cli/command"
)

// tooSmall matches the refusal of a --memory that is too small, and captures the least that is enough.
var tooSmall = regexp.MustCompile(`^--memory \d+ is too small: .* takes at least (\d+) MiB.*\n$`)

// LeastMemory checks that a pipeline with too little --memory names the least that is enough, which is, and
// that --force then neither removes what is in the folder of the pipeline's output nor, with the least,
// changes a byte of it.
func LeastMemory(t testing.TB, p command.Pipeline, folder string, arguments ...string) {
	t.Helper()
	Succeed(t, p, arguments...)
	before := Files(t, folder)
	with := func(mib int) (code int, stderr string) {
		code, _, stderr = Run(t, p, append(arguments, "--force", "--memory", fmt.Sprint(mib))...)
		return code, stderr
	}
	code, stderr := with(1)
	found := tooSmall.FindStringSubmatch(stderr)
	if code != command.ExitUsage || found == nil || !strings.HasPrefix(stderr, "--memory 1 ") {
		t.Fatalf("%s: exit code %d: %s", p.Name, code, stderr)
	}
	least, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	if code, stderr := with(least - 2); code != command.ExitUsage {
		t.Errorf("%s: less than the least: exit code %d: %s", p.Name, code, stderr)
	}
	Same(t, Files(t, folder), before)
	if code, stderr := with(least); code != command.ExitOK {
		t.Errorf("%s: the least is not enough: exit code %d: %s", p.Name, code, stderr)
	}
	Same(t, Files(t, folder), before)
}
