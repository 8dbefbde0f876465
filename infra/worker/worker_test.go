package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheWorkerHasEveryStage fails where a new stage is not imported: its transforms would be unknown on a cluster.
func TestTheWorkerHasEveryStage(t *testing.T) {
	t.Parallel()
	has := map[string]bool{}
	for dep := range strings.FieldsSeq(list(t, "-deps", ".")) {
		has[dep] = true
	}
	for stage := range strings.FieldsSeq(list(t, "tagnet/stages/...")) {
		if !has[stage] && !strings.HasSuffix(stage, "test") {
			t.Errorf("%s is not part of the worker; import it in main.go", stage)
		}
	}
}

func list(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, arguments...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
