package train

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/job/jobtest"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestInterruptOnAClusterCancelsAtOnce: a worker on another machine learns nothing of the interrupt, so
// nothing is waited for.
func TestInterruptOnAClusterCancelsAtOnce(t *testing.T) {
	pipelinetest.ResetFlags(t, "runner", "endpoint", "environment_type", "worker_binary")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	var interrupted time.Time
	var waited time.Duration
	server := jobtest.Start(t, func(j *jobtest.Job) {
		j.State(jobpb.JobState_RUNNING)
		interrupted = time.Now()
		interrupt()
		<-j.Canceled
		waited = time.Since(interrupted)
		j.State(jobpb.JobState_CANCELLED)
	})
	w := ring(t, 60)
	var out, stderr bytes.Buffer
	code := command.Run(ctx, Pipeline(), small(w, "--runner", "universal", "--endpoint", server.Endpoint, "--environment_type", "PROCESS",
		"--environment_config", `{"command":"/boot"}`, "--worker_binary", program), &out, &stderr)
	if code != command.ExitInterrupted || waited > grace/2 {
		t.Errorf("exit code %d, canceled after %v", code, waited)
	}
	for _, text := range []string{"interrupted: the newest checkpoint is kept", "job " + jobtest.ID + " ended: CANCELLED", "holds no checkpoint yet"} {
		if said := out.String() + stderr.String(); !strings.Contains(said, text) {
			t.Errorf("no %q in %s", text, said)
		}
	}
	if _, err := os.Stat(w + "/runs/main/checkpoints/manifest.json"); err == nil {
		t.Error("the interrupted training counts as complete")
	}
}

// TestEpochsAreShownOnce: workers on other machines are shown by their files, those in this process
// by what they report.
func TestEpochsAreShownOnce(t *testing.T) {
	history := pipelinetest.Read(t, finished(t), "runs/main/training.jsonl")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for environment, want := range map[string]int{"PROCESS": 1, "LOOPBACK": 0} { // no worker reports here
		t.Run(environment, func(t *testing.T) {
			pipelinetest.ResetFlags(t, "runner", "endpoint", "environment_type", "environment_config", "worker_binary")
			w := ring(t, 60)
			server := jobtest.Start(t, func(j *jobtest.Job) {
				j.State(jobpb.JobState_RUNNING)
				if err := os.WriteFile(w+"/runs/main/training.jsonl", []byte(history), 0o666); err != nil {
					t.Error(err)
				}
				j.State(jobpb.JobState_DONE)
			})
			_, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--runner", "universal", "--endpoint", server.Endpoint, "--environment_type", environment,
				"--environment_config", `{"command":"/boot"}`, "--worker_binary", program)...)
			if n := strings.Count(stderr, "epoch 1 of"); n != want {
				t.Errorf("the first epoch is shown %d times, want %d:\n%s", n, want, stderr)
			}
		})
	}
}
