package train

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/job/jobtest"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestInterruptOnAClusterCancelsAtOnce: a worker on another machine learns nothing of the interrupt, so nothing is waited for.
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
		<-j.Cancelled
		waited = time.Since(interrupted)
		j.State(jobpb.JobState_CANCELLED)
	})
	w := ring(t, 60)
	var out, stderr bytes.Buffer
	code := command.Run(ctx, Pipeline(), small(w, "--runner", "universal", "--endpoint", server.Endpoint, "--environment_type", "PROCESS",
		"--environment_config", `{"command":"/boot"}`, "--worker_binary", program), &out, &stderr)
	if code != command.ExitInterrupted || waited > grace/2 {
		t.Errorf("exit code %d, cancelled after %v", code, waited)
	}
	for _, text := range []string{"interrupted: the newest checkpoint is kept", "job " + jobtest.ID + " ended: CANCELLED", "holds no checkpoint yet"} {
		if said := out.String() + stderr.String(); !strings.Contains(said, text) {
			t.Errorf("no %q in %s", text, said)
		}
	}
	if _, err := os.Stat(w + "/checkpoints/manifest.json"); err == nil {
		t.Error("the interrupted training counts as complete")
	}
}
