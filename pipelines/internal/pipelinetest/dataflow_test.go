package pipelinetest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// dataflowJob is what a job on Dataflow consists of, as --dry_run prints it.
type dataflowJob struct {
	Steps   []struct{ Name, Kind string }
	Request struct {
		ProjectID, Name string
		Environment     struct {
			ServiceOptions    []string
			TempStoragePrefix string
			WorkerPools       []pool
		}
	}
}

type pool struct {
	MachineType          string
	DiskSizeGB           int `json:"diskSizeGb"`
	NumWorkers           int
	AutoscalingSettings  struct{ MaxNumWorkers int }
	Packages             []struct{ Name, Location string }
	SDKHarnessContainers []struct{ ContainerImage, EnvironmentID string } `json:"sdkHarnessContainerImages"`
}

// TestDataflowLauncher runs the launcher with --dry_run for every command that runs on Dataflow, and checks the job:
// its steps, image, staged program and workers. Nothing is submitted, written, or fetched from Google.
func TestDataflowLauncher(t *testing.T) {
	bucket := gcstest.Bucket(t)
	workspace, bin := bucket+folder, t.TempDir()
	launcher, err := filepath.Abs("../../../infra/dataflow/launch.sh")
	if err != nil {
		t.Fatal(err)
	}
	dataset := bucket + "/dataset"
	for name, text := range pipelinetest.Ring("e", 30) {
		if err := storage.WriteFile(t.Context(), storage.Join(dataset, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	transform := map[string]string{"preprocess": "/encode.namesFn", "distances": "/study.searchFn", "bundle": "/bundle.answerFn",
		"train": "/train.learnFn", "score": "/predict.evaluateFn", "ask": "/predict.answersFn", "messages": "/study.countFn"}
	for _, s := range append(steps(t), step{ask.Pipeline, []string{"--relation", "next", "--graph", "train"}}) {
		name := s.pipeline().Name
		if transform[name] == "" {
			continue
		}
		// This program is all commands, by the name under which it is started.
		if err := os.Symlink(os.Args[0], filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
		if name == "preprocess" {
			s.arguments = []string{"--dataset", dataset}
		}
		before := pipelinetest.Files(t, bucket)
		c := exec.Command(launcher, append([]string{name, "--project", "p", "--region", "r", "--bucket=" + workspace, "--machine", "n1-highmem-8",
			"--workers", "3", "--disk", "70", "--accelerator", "nvidia-tesla-t4", "--image", "example.org/worker:1", "--dry_run"}, s.arguments...)...)
		c.Env = append(os.Environ(), "TAGNET_TEST_PIPELINE=1", "TAGNET_BIN="+bin, "TMPDIR="+t.TempDir(), "HTTPS_PROXY=http://127.0.0.1:1")
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, stderr.String())
		}
		checkJob(t, name, transform[name], workspace, out)
		pipelinetest.Same(t, pipelinetest.Files(t, bucket), before)
		if code, stderr := s.run(t, workspace); code != command.ExitOK {
			t.Fatalf("%s: %s", name, stderr)
		}
	}
}

// TestDataflowLauncherPassesOn checks that all flags after -- reach the command, also --workers of train, which
// the launcher has too.
func TestDataflowLauncherPassesOn(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"train", "worker"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("../../../infra/dataflow/launch.sh", "train", "--bucket", "gs://b/w", "--epochs", "5", "--workers", "3", "--", "--workers", "2",
		"--preset", "a b")
	c.Env = append(os.Environ(), "TAGNET_BIN="+bin)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	if text := string(out); !strings.Contains(text, "--num_workers=3\n") || !strings.HasSuffix(text, "\n--epochs\n5\n--workers\n2\n--preset\na b\n") {
		t.Errorf("the command gets\n%s", text)
	}
}

// checkJob checks what --dry_run printed.
func checkJob(t *testing.T, name, transform, workspace string, out []byte) {
	t.Helper()
	var job dataflowJob
	if err := json.Unmarshal(out, &job); err != nil {
		t.Fatalf("%s: %v in %s", name, err, out)
	}
	found := false
	for _, s := range job.Steps {
		found = found || strings.HasSuffix(s.Name, transform) && s.Kind == "pardo"
	}
	if !found {
		t.Errorf("%s: no step %s in %v", name, transform, job.Steps)
	}
	e := job.Request.Environment
	got := map[string]any{"project": job.Request.ProjectID, "options": e.ServiceOptions, "temporary": e.TempStoragePrefix}
	want := map[string]any{"project": "p", "options": []string{"worker_accelerator=type:nvidia-tesla-t4;count:1;install-nvidia-driver"},
		"temporary": workspace + "/staging/tmp"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the environment (-want +got):\n%s", name, diff)
	}
	if len(e.WorkerPools) != 1 {
		t.Fatalf("%s: %d pools of workers", name, len(e.WorkerPools))
	}
	w := e.WorkerPools[0]
	if w.MachineType != "n1-highmem-8" || w.DiskSizeGB != 70 || w.NumWorkers != 3 || w.AutoscalingSettings.MaxNumWorkers != 3 {
		t.Errorf("%s: workers %+v", name, w)
	}
	if len(w.Packages) != 1 || w.Packages[0].Name != "worker" || !strings.HasPrefix(w.Packages[0].Location, workspace+"/staging/") {
		t.Errorf("%s: staged %+v", name, w.Packages)
	}
	if len(w.SDKHarnessContainers) != 1 || w.SDKHarnessContainers[0].ContainerImage != "example.org/worker:1" {
		t.Errorf("%s: containers %+v", name, w.SDKHarnessContainers)
	}
}

// TestDataflowNeedsItsFlags checks that what Dataflow needs is missed before anything else.
func TestDataflowNeedsItsFlags(t *testing.T) {
	pipelinetest.ResetFlags(t, "runner", "environment_type", "project", "region", "staging_location")
	gcstest.Bucket(t)
	dataset := pipelinetest.Dataset(t, pipelinetest.Ring("e", 10))
	arguments := []string{"--workspace", t.TempDir(), "--dataset", dataset, "--runner", "dataflow"}
	for _, missing := range []struct {
		code  int
		begin string
		with  []string // which mends it
	}{
		{command.ExitUsage, "--runner dataflow needs --project PROJECT", []string{"--project", "p"}},
		{command.ExitUsage, "--runner dataflow needs --region REGION", []string{"--region", "r"}},
		{command.ExitUsage, "--runner dataflow needs --staging_location gs://", []string{"--staging_location", "/tmp"}},
		{command.ExitUsage, "--staging_location is /tmp: want gs://", []string{"--staging_location", "gs://bucket/staging"}},
		{command.ExitFailure, "--workspace " + arguments[1] + " is a folder of this machine", []string{"--workspace", "gs://bucket/workspace"}},
		{command.ExitFailure, "--dataset " + dataset + " is a folder of this machine", nil},
	} {
		pipelinetest.Fail(t, preprocess.Pipeline(), pipelinetest.Failure{Code: missing.code, Begin: missing.begin}, arguments...)
		arguments = append(arguments, missing.with...)
	}
}
