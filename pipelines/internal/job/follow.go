package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// history is what a job has reported.
type history struct {
	mu    sync.Mutex
	state jobpb.JobState_Enum
	// errors are the texts of its error messages, oldest first.
	errors []string
}

// mostErrors is the number of error messages that are kept: the first ones, which hold the cause, and
// the last.
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

func (j *Job) addError(text string) {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	if n := len(j.history.errors); n < mostErrors {
		j.history.errors = append(j.history.errors, text)
	} else {
		j.history.errors[n-1] = text
	}
}

// ended reports whether a state is final.
func ended(s jobpb.JobState_Enum) bool {
	switch s {
	case jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_CANCELLED, jobpb.JobState_DRAINED, jobpb.JobState_UPDATED:
		return true
	}
	return false
}

// Wait follows the job to its end and returns nil only if that is DONE. Notices about a job that makes
// no progress, and about its cancellation, go to say. If ctx is cancelled, Wait cancels the job and
// returns ctx's cause.
func (j *Job) Wait(ctx context.Context, say func(format string, arguments ...any)) error {
	streaming, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	followed := make(chan error, 1)
	go func() { followed <- j.follow(streaming) }()
	select {
	case err := <-followed:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		j.cancel(ctx, say)
		return context.Cause(ctx)
	}
	return j.outcome()
}

// reconnects is how often a broken stream of messages is opened again, with a pause between.
const reconnects = 5

var reconnectAfter = 2 * time.Second // tests do not wait

// follow reads the job's messages until its state is final.
func (j *Job) follow(ctx context.Context) error {
	var err error
	for range reconnects {
		if err = j.read(ctx); err == nil || ctx.Err() != nil || status.Code(err) == codes.NotFound {
			break
		}
		select {
		case <-time.After(reconnectAfter):
		case <-ctx.Done():
		}
	}
	if err != nil {
		return fmt.Errorf("the job server at --endpoint %s no longer answers about job %s (%w): the job may still run, and its outputs are not published; see to it there, then run again", j.Options.Endpoint, j.ID, err)
	}
	return nil
}

// read reads one stream of messages, which begins with the job's past. It returns nil if the state is
// final.
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
			// The messages that explain a failure may follow it.
			if s := m.GetStateResponse().GetState(); ended(s) && s != jobpb.JobState_FAILED {
				return nil
			}
		case m.GetMessageResponse().GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR:
			j.addError(m.GetMessageResponse().GetMessageText())
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
func (j *Job) outcome() error {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	switch j.history.state {
	case jobpb.JobState_DONE:
		return nil
	case jobpb.JobState_FAILED:
		return &Failed{ID: j.ID, Messages: j.history.errors}
	}
	return fmt.Errorf("job %s ended in state %s, not DONE: somebody cancelled it at the cluster; run again", j.ID, j.history.state)
}

// Failed is the error of a job that failed.
type Failed struct {
	ID string
	// Messages are the job's error messages, oldest first.
	Messages []string
}

// Error returns the last message, which quotes the error of a DoFn.
func (f *Failed) Error() string {
	if len(f.Messages) == 0 {
		return fmt.Sprintf("job %s failed without a message: see the logs of the job server and of its workers", f.ID)
	}
	return f.Messages[len(f.Messages)-1]
}

// How long a cancelled job may take to end, and the time between queries of its state.
const (
	cancelTimeout = 30 * time.Second
	askEvery      = 300 * time.Millisecond
)

// cancel cancels the job and waits for its end.
func (j *Job) cancel(ctx context.Context, say func(format string, arguments ...any)) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer stop()
	say("cancelling job %s; a second interrupt ends at once, without waiting for that", j.ID)
	_, err := j.client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.ID})
	for err == nil && j.ask(ctx) != nil {
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
}

// MayStillRun says that the job was not seen to end.
func (j *Job) MayStillRun() string {
	text := fmt.Sprintf("job %s may still run, last seen %s at the job server %s", j.ID, strings.ToLower(j.State()), j.Options.Endpoint)
	return text + ": cancel it there before the next run"
}
