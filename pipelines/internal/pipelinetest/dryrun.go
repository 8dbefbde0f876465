package pipelinetest

import (
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"tagnet/pipelines/internal/cli/command"
)

// ResetFlags sets flags of Beam, which belong to the process, to their defaults until the test ends.
func ResetFlags(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		f := flag.Lookup(name)
		before := f.Value.String()
		if err := f.Value.Set(f.DefValue); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.Value.Set(before); err != nil {
				t.Error(err)
			}
		})
	}
}

// DryRun checks that a pipeline with --dry_run and --force prints a job with a step of that name, and changes no file
// of the workspace. With --async, or on a cluster that cannot see the workspace, it is refused.
func DryRun(t *testing.T, p command.Pipeline, workspace, step string, arguments ...string) {
	t.Helper()
	ResetFlags(t, "runner", "environment_type", "dry_run", "async", "project", "region", "staging_location")
	before := Files(t, workspace)
	arguments = append(arguments, "--workspace", workspace, "--force")
	var job struct {
		Runner string
		Steps  []struct{ Name string }
	}
	out := Succeed(t, p, append(arguments, "--dry_run", "--runner", "direct")...)
	if err := json.Unmarshal([]byte(out), &job); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	found := false
	for _, s := range job.Steps {
		found = found || strings.HasSuffix(s.Name, step)
	}
	if !found || job.Runner != "direct" {
		t.Errorf("printed %s, want the step %s", out, step)
	}
	// What cannot run is refused before anything is printed.
	Fail(t, p, Failure{Code: command.ExitFailure, Begin: "--workspace " + workspace + " is a folder of this machine"},
		append(arguments, "--dry_run", "--runner", "dataflow", "--project", "p", "--region", "r", "--staging_location", "gs://bucket/staging")...)
	Fail(t, p, Failure{Code: command.ExitUsage, Begin: "--async: ", Says: []string{"publishes", "nohup"}},
		append(arguments, "--runner", "direct", "--dry_run=false", "--async")...)
	Same(t, Files(t, workspace), before)
}

// Plan checks that a pipeline with --plan and --force prints its step of that name, and changes no
// file of the workspace.
func Plan(t *testing.T, p command.Pipeline, workspace, step string, arguments ...string) {
	t.Helper()
	before := Files(t, workspace)
	out := Succeed(t, p, append(arguments, "--workspace", workspace, "--force", "--async=false", "--dry_run=false", "--plan")...)
	for _, text := range []string{"\njob ", step, "\nmemory ", "\ninput ", workspace + " can be written", "nothing was submitted"} {
		if !strings.Contains("\n"+out, text) {
			t.Errorf("no %q in %s", text, out)
		}
	}
	Same(t, Files(t, workspace), before)
}
