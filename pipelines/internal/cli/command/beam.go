package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"tagnet/pipelines/internal/cli/job"
)

// RunBeam runs a Beam pipeline on the runner of the flags and returns nil only if it saw the job end
// with success. It returns the error of a DoFn without what Beam wraps around it.
func (e *Environment) RunBeam(ctx context.Context, p *beam.Pipeline) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// The runner must be reachable; Beam's local one is started here.
	if err := reachEndpoint(ctx); err != nil {
		return err
	}
	if err := startPrism(ctx); err != nil {
		return err
	}
	cleanup, err := privateTemporaryFolder()
	if err != nil {
		return err
	}
	defer cleanup()
	if job.Selected() {
		return e.runJob(ctx, p)
	}
	// Beam reports a canceled job as done, and panics if the context has a deadline: only the
	// cancellation is passed on, and checked afterwards.
	atLeast := time.Duration(0)
	if Local() {
		atLeast = workerStarts
	}
	begun := time.Now()
	running, end := CancelLater(ctx, func() time.Duration { return atLeast - time.Since(begun) })
	defer end()
	_, err = beamx.RunWithMetrics(running, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return errors.New(unwrapBeam(err.Error()))
	}
	return nil
}

// runJob runs a pipeline on a job server. An interrupt cancels the job there.
func (e *Environment) runJob(ctx context.Context, p *beam.Pipeline) error {
	j, err := job.Submit(ctx, p, e.jobOptions())
	if err != nil {
		return err
	}
	defer j.Close()
	e.Progress.Print("job %s runs at %s", j.ID, j.Options.Endpoint)
	defer OnSecondInterrupt(ctx, j.MayStillRun)()
	e.Progress.Follow(j.Progress)
	defer e.Progress.Follow(nil)
	err = j.Wait(ctx, e.Progress.Print)
	if failed := new(job.Failed); errors.As(err, &failed) && failed.Cause == "" {
		return errors.New(unwrapBeam(failed.Text))
	}
	return err
}

// jobOptions returns the options of a job of this pipeline.
func (e *Environment) jobOptions() job.Options {
	o := job.FromFlags()
	if o.Name == "" && e.Flags != nil {
		o.Name = e.Flags.Name()
	}
	if Local() {
		o.Runner, o.Environment = "prism", "LOOPBACK"
	}
	return o
}

// workerStarts is longer than a local job takes to start its worker. Beam's local runner panics if
// the job is canceled before that.
const workerStarts = time.Second

// CancelLater returns a context without a deadline that is canceled the duration of wait() after
// ctx. end releases its resources.
func CancelLater(ctx context.Context, wait func() time.Duration) (later context.Context, end func()) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(wait(), cancel) })
	return later, func() {
		stop()
		cancel()
	}
}

// Local reports whether the flags select Beam's local runner, which works in this process and keeps
// everything that crosses a barrier in memory.
func Local() bool {
	return *runners.Runner == "" || *runners.Runner == "prism" || *runners.Runner == "PrismRunner"
}

// startPrism starts Beam's local runner once, if the flags select it. Beam would start it during the
// first job, when progress already needs its endpoint.
func startPrism(ctx context.Context) error {
	if !Local() || *jobopts.Endpoint != "" {
		return nil
	}
	// Without that name Beam's runner and its worker, both in this process, wait for each other forever.
	_, err := net.DefaultResolver.LookupHost(ctx, "localhost")
	if err != nil {
		return fmt.Errorf("starting Beam's local runner: %w: add the line 127.0.0.1 localhost to the file hosts of this machine, /etc/hosts on most", err)
	}
	for range 8 {
		var port int
		if port, err = freePort(); err != nil {
			return fmt.Errorf("starting Beam's local runner: %w", err)
		}
		// Another process may take the port between the two calls; then another port is tried.
		if err = servePrism(ctx, port); err == nil {
			*jobopts.Endpoint = fmt.Sprintf("localhost:%d", port)
			if *jobopts.EnvironmentType == "" {
				*jobopts.EnvironmentType = "loopback"
			}
			return nil
		}
	}
	return fmt.Errorf("starting Beam's local runner: %w", err)
}

// servePrism starts the local runner on a port. It returns an error, where Beam panics, if the port
// is taken.
func servePrism(ctx context.Context, port int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	_, err = prism.CreateJobServer(ctx, prism.Options{Port: port})
	return err
}

// freePort returns a port that no process listens on now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// privateTemporaryFolder sets TMPDIR to a folder that the returned function removes, since Beam
// leaves a file behind in each run.
func privateTemporaryFolder() (func(), error) {
	before, had := os.LookupEnv("TMPDIR")
	folder, err := os.MkdirTemp("", "tagnet-*")
	if err != nil {
		return nil, fmt.Errorf("making a temporary folder: %w", err)
	}
	os.Setenv("TMPDIR", folder)
	return func() {
		if had {
			os.Setenv("TMPDIR", before)
		} else {
			os.Unsetenv("TMPDIR")
		}
		os.RemoveAll(folder)
	}, nil
}

// quietBeam discards the log of Beam and of its local runner, which has many lines for each job,
// unless verbose is set. RunBeam returns errors, and package progress shows progress.
func quietBeam(verbose bool) {
	if verbose {
		slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
		return
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError + 1})))
}

var (
	doFnFailed = regexp.MustCompile(`(?s)^.*DoFn\[[^\]]*\] failed:\s*`)
	doFnPanic  = regexp.MustCompile(`(?s)^.*?panic: ([^\n]*)\n.*$`)
)

// unwrapBeam removes what Beam wraps around a DoFn's error. It returns other texts unchanged.
func unwrapBeam(text string) string {
	if doFnFailed.MatchString(text) {
		return doFnFailed.ReplaceAllString(text, "")
	}
	if strings.Contains(text, "Full error:") && doFnPanic.MatchString(text) {
		return "internal error: " + doFnPanic.ReplaceAllString(text, "$1") + " (--verbose shows where)"
	}
	if i := strings.LastIndex(text, "caused by:\n"); i >= 0 {
		return text[i+len("caused by:\n"):]
	}
	return text
}
