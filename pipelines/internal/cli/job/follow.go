package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// history collects the reports of a job.
type history struct {
	mu    sync.Mutex
	state jobpb.JobState_Enum
	// errors are the texts of its error messages, oldest first.
	errors []string
	// details is the last message of less importance, such as Flink's stack trace.
	details string
	// counters are the sums of the job's counters over its steps, tasks Flink's numbers of tasks by state.
	counters map[string]int64
	tasks    map[string]int
}

// mostErrors is the number of error messages that are kept: the first ones, which hold the cause, and the last.
const mostErrors = 20

// State returns the state that the job reported last, such as RUNNING.
func (j *Job) State() string {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	return j.history.state.String()
}

func (j *Job) setState(s jobpb.JobState_Enum) {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	j.history.state = s
}

// addError keeps an error of the job: the first ones and the last.
func (j *Job) addError(text string) {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	if n := len(j.history.errors); n < mostErrors {
		j.history.errors = append(j.history.errors, text)
	} else {
		j.history.errors[n-1] = text
	}
}

func (j *Job) setDetails(text string) {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	j.history.details = text
}

// ended reports whether a state is final.
func ended(s jobpb.JobState_Enum) bool {
	switch s {
	case jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_CANCELLED, jobpb.JobState_DRAINED, jobpb.JobState_UPDATED:
		return true
	}
	return false
}

// ended reports whether the state that the job reported last is final.
func (j *Job) ended() bool {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	return ended(j.history.state)
}

// Wait follows the job to its end and returns nil only if that is DONE. Notices about a job that makes
// no progress, and about its cancellation, go to say. If ctx is canceled, Wait cancels the job and
// returns ctx's cause.
func (j *Job) Wait(ctx context.Context, say func(format string, arguments ...any)) error {
	streaming, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	followed := make(chan error, 1)
	go func() { followed <- j.follow(streaming) }()
	var watching sync.WaitGroup
	defer watching.Wait()
	watched, unwatch := context.WithCancel(streaming)
	defer unwatch()
	watching.Go(func() { j.watch(watched, say) })
	select {
	case err := <-followed:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		unwatch()
		j.cancel(ctx, say)
		return context.Cause(ctx)
	}
	return j.outcome(streaming)
}

// reconnects is how often in succession a broken stream of messages is opened again, with a pause between.
// The count starts again after one that lasted for a while: gateways end idle streams every few minutes.
const reconnects = 5

// Tests do not wait.
var (
	reconnectAfter = 2 * time.Second
	awhile         = 20 * time.Second
)

// follow reads the job's messages until its state is final.
func (j *Job) follow(ctx context.Context) error {
	var err error
	for broken := 0; broken < reconnects; broken++ {
		opened := time.Now()
		if err = j.read(ctx); err == nil || ctx.Err() != nil || status.Code(err) == codes.NotFound {
			break
		}
		if time.Since(opened) >= awhile {
			broken = 0
		}
		select {
		case <-time.After(reconnectAfter):
		case <-ctx.Done():
		}
	}
	if err != nil && !j.ended() {
		return fmt.Errorf("the job server at --endpoint %s no longer answers about job %s (%w): the job may still run, and its outputs are not published; "+
			"see to it there, then run again", j.Options.Endpoint, j.ID, err)
	}
	return nil
}

// read reads one stream of messages, which begins with the job's past. It returns nil if the state is final.
func (j *Job) read(ctx context.Context) error {
	stream, err := j.client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: j.ID})
	if err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		switch {
		case err == io.EOF:
			return j.ask(ctx)
		case err != nil:
			return err
		case m.GetStateResponse() != nil:
			j.setState(m.GetStateResponse().GetState())
			slog.Info("job", "id", j.ID, "state", m.GetStateResponse().GetState())
			// The messages that explain a failure may follow it.
			if s := m.GetStateResponse().GetState(); ended(s) && s != jobpb.JobState_FAILED {
				return nil
			}
		default:
			message := m.GetMessageResponse()
			slog.Info("job", "id", j.ID, "importance", message.GetImportance(), "message", message.GetMessageText())
			if message.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
				j.addError(message.GetMessageText())
			} else {
				j.setDetails(message.GetMessageText())
			}
		}
	}
}

// ask asks for the job's state, and returns an error if it is not final.
func (j *Job) ask(ctx context.Context) error {
	now, err := j.client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: j.ID})
	if err != nil {
		return err
	}
	j.setState(now.GetState())
	if !ended(now.GetState()) {
		return fmt.Errorf("its messages ended in state %s", now.GetState())
	}
	return nil
}

// outcome returns nil for a job that is done, else why it is not.
func (j *Job) outcome(ctx context.Context) error {
	switch state := j.State(); state {
	case jobpb.JobState_DONE.String():
		return nil
	case jobpb.JobState_FAILED.String():
		return j.failure(ctx)
	default:
		return fmt.Errorf("job %s ended in state %s, not DONE: somebody canceled it at the cluster; run again", j.ID, state)
	}
}

// How long a canceled job may take to end, and the time between queries of its state.
const (
	cancelTimeout = 30 * time.Second
	askEvery      = 300 * time.Millisecond
)

// appearTimeout is how long a job may take from the job server to Flink: some seconds, since the job server sends its
// jars first. A test shortens it.
var appearTimeout = 15 * time.Second

func (j *Job) cancel(ctx context.Context, say func(format string, arguments ...any)) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer stop()
	say("canceling job %s; a second interrupt ends at once, without waiting for that", j.ID)
	begun := time.Now()
	known := j.flink.cancel(ctx, j.ID) // Beam's job server leaves the job to Flink, which runs on
	// leftFlink also cancels a job that the job server was about to send to Flink.
	leftFlink := func() bool {
		known = known || j.flink.cancel(ctx, j.ID)
		if !known {
			return j.flink == nil || time.Since(begun) > appearTimeout
		}
		return j.flink.ended(ctx, j.ID)
	}
	// The job has ended when both Beam's job server and Flink say so.
	_, err := j.client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.ID})
	for err == nil && (j.ask(ctx) != nil || !leftFlink()) {
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			err = errors.New("it did not end in " + cancelTimeout.String())
		}
	}
	if err != nil {
		say("%s (%v)", j.MayStillRun(), err)
		return
	}
	say("job %s ended: %s", j.ID, j.State())
	if j.flink == nil && j.Options.flink() {
		say("Flink itself may still run it, since Beam's job server only forgets a job: look at Flink's web page; with --flink_rest HOST:PORT, its " +
			"address, an interrupt cancels the job there")
	}
}

// MayStillRun says that the job was not seen to end.
func (j *Job) MayStillRun() string {
	text := fmt.Sprintf("job %s may still run, last seen %s at the job server %s", j.ID, strings.ToLower(j.State()), j.Options.Endpoint)
	return text + ": cancel it there before the next run"
}
