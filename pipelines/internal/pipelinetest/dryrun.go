package pipelinetest

import (
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
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

// DryRun checks that a pipeline with --dry_run and --force prints a job with a step of that name on each
// runner, and changes no file of the workspace. With --async it is refused.
func DryRun(t *testing.T, p command.Pipeline, workspace, step string, arguments ...string) {
	t.Helper()
	ResetFlags(t, "runner", "environment_type", "dry_run", "async", "project", "region", "staging_location")
	before, bucket := Files(t, workspace), gcstest.Bucket(t)+"/workspace"
	for name, text := range before {
		if err := storage.WriteFile(t.Context(), storage.Join(bucket, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	arguments = append(arguments, "--force", "--dry_run")
	dataflow := []string{"--runner", "dataflow", "--project", "p", "--region", "r", "--staging_location", "gs://bucket/staging"}
	// Dataflow's workers need the workspace in a bucket.
	for _, runner := range [][]string{
		{"--runner", "direct", "--workspace", workspace},
		append(dataflow, "--workspace", bucket),
	} {
		var job struct {
			Runner  string
			Steps   []struct{ Name string }
			Request struct{ ProjectID string }
		}
		out := Succeed(t, p, append(arguments, runner...)...)
		if err := json.Unmarshal([]byte(out), &job); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		found := false
		for _, s := range job.Steps {
			found = found || strings.HasSuffix(s.Name, step)
		}
		if !found || job.Runner != runner[1] || (job.Request.ProjectID == "p") != (runner[1] == "dataflow") {
			t.Errorf("%v: printed %s, want the step %s", runner, out, step)
		}
		Same(t, Files(t, runner[len(runner)-1]), before)
	}
	// What cannot run is refused before anything is printed.
	Fail(t, p, Failure{Code: command.ExitFailure, Begin: "--workspace " + workspace + " is a folder of this machine"},
		append(arguments, append(dataflow, "--workspace", workspace)...)...)
	Fail(t, p, Failure{Code: command.ExitUsage, Begin: "--async: ", Says: []string{"publishes", "nohup"}},
		append(arguments, "--workspace", workspace, "--runner", "direct", "--dry_run=false", "--async")...)
	Same(t, Files(t, workspace), before)
}

// Plan checks that a pipeline with --plan and --force prints its step of that name, and changes no file of
// the workspace.
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
