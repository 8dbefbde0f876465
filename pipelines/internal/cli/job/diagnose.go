package job

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Failed is the error of a job that failed.
type Failed struct {
	ID string
	// Text is the error of a DoFn, as Beam wraps it, or what the cluster reports.
	Text string
	// Cause is what the failure means for the user and how to mend it, or empty if Text says so.
	Cause string
}

// Error returns the cause, or the cluster's text.
func (f *Failed) Error() string {
	if f.Cause != "" {
		return f.Cause
	}
	return f.Text
}

var (
	// workerDied matches what job servers report of a worker whose connection broke.
	workerDied = regexp.MustCompile(`client cancelled|call already cancelled|CANCELLED:|UNAVAILABLE|SDK worker ` +
		`disconnected|[Pp]rocess died|Connection reset|Broken pipe|exited with`)
	exitCode   = regexp.MustCompile(`exit(?:ed with)?(?: status| code)? (\d+)`)
	notStarted = regexp.MustCompile(`Cannot run program "([^"]+)"|error=2, No such file or directory`)
	// restarted matches what Flink reports of a job whose restarts are used up.
	restarted = regexp.MustCompile(`Recovery is suppressed by FixedDelay[^(]*\(maxNumberRestartAttempts=(\d+)`)
	taskLost  = regexp.MustCompile(`TaskManager with id|[Hh]eartbeat of TaskManager|RemoteTransportException`)
	// unread matches the error of a file that a worker does not find: its path comes before.
	unread = regexp.MustCompile(`(/[^\s:"']+)(?::| ) ?(?:no such file or directory|file does not exist|permission denied)`)
)

// failure returns the error of the job from its messages.
func (j *Job) failure(ctx context.Context) *Failed {
	j.history.mu.Lock()
	errors, details := j.history.errors, j.history.details
	j.history.mu.Unlock()
	// The last message stands for the failure, unless a DoFn's error is among them.
	f := &Failed{ID: j.ID, Text: fmt.Sprintf("job %s failed without a message: see the logs of the job server and of its workers", j.ID)}
	if n := len(errors); n > 0 {
		f.Text = errors[n-1]
	}
	for _, text := range errors { // a DoFn's error says most
		if strings.Contains(text, "SDK harness") {
			f.Text = text
		}
	}
	// These name the host and Flink's attempts in the texts below.
	on := func() string {
		if host := j.flink.failedOn(ctx, j.ID); host != "" {
			return " on host " + host
		}
		return ""
	}
	all := strings.Join(append(errors, details), "\n")
	again := "with a restart strategy (restart-strategy.type: fixed-delay) Flink repeats its work"
	if m := restarted.FindStringSubmatch(all); m != nil {
		again = fmt.Sprintf("Flink restarted its work %s times before (restart-strategy)", m[1])
	}
	// An error of the pipeline's own code has no other cause, except a file that the worker does not see.
	if strings.Contains(f.Text, "SDK harness") || strings.Contains(f.Text, "DoFn[") {
		if m := unread.FindStringSubmatch(f.Text); m != nil && j.Options.Environment != loopback {
			if _, err := os.Stat(m[1]); err == nil {
				f.Cause = fmt.Sprintf("a worker%s cannot read %s, which exists here: its host does not see this folder; put the workspace into a folder "+
					"that all hosts mount at the same path, or into gs://bucket/prefix", on(), m[1])
			}
		}
		return f
	}
	switch {
	case notStarted.MatchString(all):
		program := "the command of --environment_config"
		for _, m := range notStarted.FindAllStringSubmatch(all, -1) {
			if m[1] != "" {
				program = m[1]
			}
		}
		f.Cause = fmt.Sprintf("a TaskManager of job %s%s cannot start its worker: %s does not exist there, or cannot be executed; install the workers' "+
			"programs (make worker) at that path on every host", j.ID, on(), program)
	case strings.Contains(all, "NoResourceAvailableException"):
		f.Cause = fmt.Sprintf("job %s got no free slots: lower --parallelism, wait for other jobs, or start more TaskManagers", j.ID)
	case taskLost.MatchString(all):
		f.Cause = fmt.Sprintf("a TaskManager of job %s was lost%s, or is not reached any more: see its log; %s", j.ID, on(), again)
	case workerDied.MatchString(f.Text):
		how := ""
		if m := exitCode.FindStringSubmatch(all); m != nil {
			how = " with exit code " + m[1]
		}
		f.Cause = fmt.Sprintf("a worker of job %s died%s%s: likely it got more memory than its host or container has (give the worker more, or lower "+
			"--memory), or it was killed; the log of its TaskManager has its last words; %s", j.ID, how, on(), again)
	}
	return f
}
