package job

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tagnet/pipelines/internal/cli/job/jobtest"
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
		{"canceled by another", func(j *jobtest.Job) { j.State(jobpb.JobState_CANCELLED) }, []string{jobtest.ID, "CANCELLED", "not DONE"}},
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

// TestCanceled checks that an interrupt cancels the job, waits for its end, and says so, also where the job server
// sends the job to Flink only after the interrupt.
func TestCanceled(t *testing.T) {
	for name, late := range map[string]int64{"running": 0, "on its way to Flink": 3} {
		t.Run(name, func(t *testing.T) { testCanceled(t, late) })
	}
}

// testCanceled interrupts a job that Flink does not list in the first answers.
func testCanceled(t *testing.T, late int64) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	// Beam's job server reports a job as canceled that Flink still runs: the interrupt cancels it there.
	var state atomic.Value
	state.Store("RUNNING")
	var lists atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && r.URL.String() == "/jobs/7?mode=cancel" {
			time.AfterFunc(2*askEvery, func() { state.Store("CANCELED") })
		} else if lists.Add(1) <= late {
			fmt.Fprint(w, `{"jobs": []}`)
			return
		}
		fmt.Fprintf(w, `{"jobs": [{"jid": "7", "name": "job-1", "state": %q}]}`, state.Load())
	}))
	defer server.Close()
	j := submit(t, jobtest.Start(t, func(j *jobtest.Job) {
		j.State(jobpb.JobState_RUNNING)
		interrupt(interrupted)
		<-j.Canceled
		j.State(jobpb.JobState_CANCELLING)
		j.State(jobpb.JobState_CANCELLED)
	}))
	j.flink = &Flink{Address: strings.TrimPrefix(server.URL, "http://")}
	var n notices
	if err := j.Wait(ctx, n.say); err != interrupted {
		t.Errorf("error %v, want the cause of the interrupt", err)
	}
	if state.Load() != "CANCELED" {
		t.Error("the job still runs on Flink")
	}
	if said := n.String(); !strings.Contains(said, "canceling job "+jobtest.ID) || !strings.Contains(said, "job "+jobtest.ID+" ended: CANCELLED") {
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
	if err == nil || !strings.Contains(err.Error(), s.Endpoint) || !strings.Contains(err.Error(), "job "+jobtest.ID) ||
		!strings.Contains(err.Error(), "may still run") {
		t.Errorf("error %v", err)
	}
}

// breaking is a job server whose streams of messages break after a time, until so many are broken. Each
// reports the states; the last one continues to the end of the job.
type breaking struct {
	jobpb.JobServiceClient
	after  time.Duration
	broken int // streams to break
	states []jobpb.JobState_Enum
}

func (b *breaking) GetMessageStream(context.Context, *jobpb.JobMessagesRequest, ...grpc.CallOption) (jobpb.JobService_GetMessageStreamClient, error) {
	return &brokenStream{server: b, states: b.states}, nil
}

type brokenStream struct {
	grpc.ClientStream
	server *breaking
	states []jobpb.JobState_Enum
}

func (s *brokenStream) Recv() (*jobpb.JobMessagesResponse, error) {
	if len(s.states) > 0 {
		state := s.states[0]
		s.states = s.states[1:]
		return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{StateResponse: &jobpb.JobStateEvent{State: state}}}, nil
	}
	if s.server.broken > 0 {
		s.server.broken--
		time.Sleep(s.server.after)
		return nil, status.Error(codes.Unavailable, "connection reset")
	}
	return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{StateResponse: &jobpb.JobStateEvent{State: jobpb.JobState_DONE}}}, nil
}

// TestBrokenStreams checks that a long job is followed although its stream breaks now and then, and that a
// server which ends after its job failed leaves a job that failed.
func TestBrokenStreams(t *testing.T) {
	pause, long := reconnectAfter, awhile
	reconnectAfter, awhile = 0, 20*time.Millisecond
	defer func() { reconnectAfter, awhile = pause, long }()
	running, failed := []jobpb.JobState_Enum{jobpb.JobState_RUNNING}, []jobpb.JobState_Enum{jobpb.JobState_RUNNING, jobpb.JobState_FAILED}
	for _, test := range []struct {
		name   string
		server *breaking
		want   string // in the state, or in the error of follow
	}{
		{"now and then", &breaking{after: awhile, broken: 2 * reconnects, states: running}, "DONE"},
		{"in succession", &breaking{broken: 1000, states: running}, "no longer answers"},
		{"after a failure", &breaking{broken: 1000, states: failed}, "FAILED"},
	} {
		j := &Job{ID: "job-1", client: test.server}
		got := fmt.Sprint(j.follow(t.Context()), " ", j.State())
		if !strings.Contains(got, test.want) || strings.HasPrefix(got, "<nil>") == (test.want == "no longer answers") {
			t.Errorf("%s: %s, want %q", test.name, got, test.want)
		}
	}
}

// TestSilence checks that the user learns once what a job waits for that is accepted and never runs.
func TestSilence(t *testing.T) {
	watchEvery, patience = time.Millisecond, 300*time.Millisecond
	defer func() { watchEvery, patience = 2*time.Second, 15*time.Second }()
	busy := flinkCluster(t, `{"flink-version": "1.19.0", "taskmanagers": 2, "slots-total": 2, "slots-available": 1}`,
		`{"jobs": [{"jid": "1", "name": "job-1", "state": "RUNNING", "tasks": {"running": 0, "scheduled": 7, "total": 7}}]}`, "")
	for _, test := range []struct {
		name, rest string
		state      jobpb.JobState_Enum
		change     func(j *Job)
		says       string
	}{
		{"no slots", busy, jobpb.JobState_RUNNING, nil, "it waits for 4 free slots (--parallelism), Flink has 2, of which 1 are free; lower --parallelism"},
		{"loopback, cluster unknown", "", jobpb.JobState_RUNNING, nil, "no worker was requested"},
		{"starting", "", jobpb.JobState_STARTING, func(j *Job) { j.pool = nil }, "has been STARTING for"},
		{"unknown", "", jobpb.JobState_RUNNING, func(j *Job) { j.pool = nil }, "--flink_rest HOST:PORT"},
	} {
		t.Run(test.name, func(t *testing.T) {
			end := make(chan struct{})
			j := submit(t, jobtest.Start(t, func(j *jobtest.Job) {
				j.State(test.state)
				<-end
				j.State(jobpb.JobState_DONE)
			}))
			j.Options.Parallelism = 4
			j.flink = nil // another program may listen at Flink's default port
			if test.rest != "" {
				j.flink = &Flink{Address: test.rest}
			}
			pool := j.pool
			defer pool.stop()
			if test.change != nil {
				test.change(j)
			}
			var n notices
			go func() {
				for begun := time.Now(); n.String() == "" && time.Since(begun) < 5*time.Second; {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(20 * watchEvery) // it is not said again
				close(end)
			}()
			if err := j.Wait(t.Context(), n.say); err != nil {
				t.Fatal(err)
			}
			if said := n.String(); strings.Count(said, "\n") > 0 || !strings.Contains(said, test.says) || !strings.Contains(said, jobtest.ID) {
				t.Errorf("said %q, want once %q", said, test.says)
			}
		})
	}
}

// flinkCluster starts a REST API of Flink with these answers and returns its address.
func flinkCluster(t *testing.T, overview, jobs, exceptions string) string {
	t.Helper()
	answers := map[string]string{"/overview": overview, "/jobs/overview": jobs, "/jobs/1/exceptions": exceptions}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, answers[r.URL.Path]) }))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestNoFlink checks that the error of --flink_rest says what the answer of another server lacks.
func TestNoFlink(t *testing.T) {
	*flinkREST = flinkCluster(t, `{"status": "up"}`, "", "")
	t.Cleanup(func() { *flinkREST = "" })
	if _, _, err := FindFlink(t.Context(), Options{Runner: "flink"}); err == nil || !strings.Contains(err.Error(), "(its /overview has no flink-version)") {
		t.Errorf("%v, want what its overview lacks", err)
	}
}

// TestFailuresNameTheirCause checks what the user reads about failures that the cluster reports in its own words.
func TestFailuresNameTheirCause(t *testing.T) {
	here := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(here, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	rest := flinkCluster(t, "{}", `{"jobs": [{"jid": "1", "name": "job-1"}]}`,
		`{"exceptionHistory": {"entries": [{"endpoint": null, "concurrentExceptions": [{"endpoint": "node7:4711"}]}]}}`)
	const harness = "java.lang.RuntimeException: Error received from SDK harness for instruction 2: DoFn[x] failed:\n"
	for _, test := range []struct {
		name    string
		details string
		errors  []string
		says    []string // in the cause, which is empty without
	}{
		{"unseen workspace", "", []string{harness + "reading " + here + ": no such file or directory"},
			[]string{"on host node7", here, "exists here", "gs://"}},
		{"file that exists nowhere", "", []string{harness + "reading /none/x: no such file or directory"}, nil},
		{"error of a DoFn", "", []string{harness + "data/train.txt:3: 4 fields", "CANCELLED: client cancelled"}, nil},
		{"dead worker", "Caused by: Process died with exit code 137", []string{"StatusRuntimeException: CANCELLED: client cancelled"},
			[]string{"a worker of job job-1 died with exit code 137 on host node7", "--memory", "log"}},
		{"worker that dies again", "Caused by: Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=5, backoffTimeMS=2000)",
			[]string{"StatusRuntimeException: CANCELLED: client cancelled"},
			[]string{"a worker of job job-1 died on host node7", "lower --memory", "restarted its work 5 times"}},
		{"lost TaskManager", "Caused by: java.util.concurrent.TimeoutException: Heartbeat of TaskManager with id 3 timed out.",
			[]string{"CANCELLED: client cancelled"}, []string{"TaskManager", "node7", "restart"}},
		{"no boot program", `Caused by: java.io.IOException: Cannot run program "/opt/tagnet/boot": error=2, No such file or directory`,
			[]string{"java.io.IOException: error=2, No such file or directory"}, []string{"/opt/tagnet/boot does not exist", "on host node7", "make worker"}},
		{"no slots", "Caused by: NoResourceAvailableException: Could not acquire", []string{"Job execution failed."}, []string{"free slots", "--parallelism"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := &Job{ID: "job-1", Options: Options{Environment: "PROCESS"}, flink: &Flink{Address: rest}}
			j.history.errors, j.history.details = test.errors, test.details
			f := j.failure(t.Context())
			if (f.Cause == "") != (test.says == nil) {
				t.Errorf("cause %q, want one: %v", f.Cause, test.says != nil)
			}
			for _, text := range test.says {
				if !strings.Contains(f.Error(), text) {
					t.Errorf("no %q in %q", text, f.Error())
				}
			}
			if test.says == nil && !strings.Contains(f.Error(), "SDK harness") {
				t.Errorf("the error is %q, want that of the DoFn", f.Error())
			}
		})
	}
}
