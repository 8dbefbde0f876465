package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"

	"tagnet/pipelines/internal/job/jobtest"
)

func init() { beam.Init() }

// submit submits a pipeline of one step to a server.
func submit(t *testing.T, s *jobtest.Server) *Job {
	t.Helper()
	p, root := beam.NewPipelineWithRoot()
	beam.Impulse(root)
	j, err := Submit(t.Context(), p, Options{Runner: "flink", Endpoint: s.Endpoint, Environment: loopback, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

// notices collects what a job tells the user.
type notices struct {
	mu   sync.Mutex
	said []string
}

func (n *notices) say(format string, arguments ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, fmt.Sprintf(format, arguments...))
}

func (n *notices) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.said, "\n")
}

// TestOutcomes checks that only a job that was seen to be DONE counts as such.
func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		name string
		play func(j *jobtest.Job)
		says []string // in the error; none if there is no error
	}{
		{"done", func(j *jobtest.Job) { j.State(jobpb.JobState_RUNNING); j.State(jobpb.JobState_DONE) }, nil},
		{"failed, explained afterwards", func(j *jobtest.Job) {
			j.Error("first")
			j.State(jobpb.JobState_FAILED)
			j.Error("DoFn[x] failed:\nno such file")
		}, []string{"no such file"}},
		{"failed silently", func(j *jobtest.Job) { j.State(jobpb.JobState_FAILED) }, []string{jobtest.ID, "logs"}},
		{"cancelled by another", func(j *jobtest.Job) { j.State(jobpb.JobState_CANCELLED) }, []string{jobtest.ID, "CANCELLED", "not DONE"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var n notices
			err := submit(t, jobtest.Start(t, test.play)).Wait(t.Context(), n.say)
			if (err == nil) != (test.says == nil) {
				t.Fatalf("error %v, want one: %v", err, test.says != nil)
			}
			for _, text := range test.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("no %q in the error %q", text, err)
				}
			}
		})
	}
}

// TestCancelled checks that an interrupt cancels the job, waits for its end, and says so.
func TestCancelled(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	j := submit(t, jobtest.Start(t, func(j *jobtest.Job) {
		j.State(jobpb.JobState_RUNNING)
		interrupt(interrupted)
		<-j.Cancelled
		j.State(jobpb.JobState_CANCELLING)
		j.State(jobpb.JobState_CANCELLED)
	}))
	var n notices
	if err := j.Wait(ctx, n.say); err != interrupted {
		t.Errorf("error %v, want the cause of the interrupt", err)
	}
	if said := n.String(); !strings.Contains(said, "cancelling job "+jobtest.ID) || !strings.Contains(said, "job "+jobtest.ID+" ended: CANCELLED") {
		t.Errorf("said %q", said)
	}
}

// TestServerDies checks that a job whose server no longer answers is neither done nor failed.
func TestServerDies(t *testing.T) {
	reconnectAfter = 0
	var s *jobtest.Server
	ready := make(chan struct{})
	s = jobtest.Start(t, func(j *jobtest.Job) {
		j.State(jobpb.JobState_RUNNING)
		<-ready
		s.Stop()
	})
	j := submit(t, s)
	close(ready)
	var n notices
	err := j.Wait(t.Context(), n.say)
	if err == nil || !strings.Contains(err.Error(), s.Endpoint) || !strings.Contains(err.Error(), "job "+jobtest.ID) || !strings.Contains(err.Error(), "may still run") {
		t.Errorf("error %v", err)
	}
}
