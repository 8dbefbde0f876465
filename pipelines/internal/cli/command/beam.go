package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx" // registers all runners

	"tagnet/pipelines/internal/cli/job"
	"tagnet/stages/worker"
)

// localRunner is Beam's runner in this process. It opens no port, which anybody who reaches it could use to run
// programs as this user, and never encodes an element.
const localRunner = "direct"

// Local reports whether the flags select localRunner.
func Local() bool { return slices.Contains([]string{"", localRunner, "DirectRunner"}, *runners.Runner) }

// BeamPipeline returns the Beam pipeline of a transform with parameters.
func BeamPipeline[P any](transform func(beam.Scope, P) beam.PCollection, p P) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	transform(s, p)
	return pipeline
}

// RunBeam runs a Beam pipeline on the runner of the flags and returns nil only if it saw the job end with success. It
// returns the error of a DoFn without what Beam wraps around it. After an error no step still runs in this process.
func (e *Environment) RunBeam(ctx context.Context, p *beam.Pipeline) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	worker.Start()
	err := e.runBeam(ctx, p)
	if err != nil {
		worker.Stop() // no file appears after the caller has removed what was written
	}
	return err
}

func (e *Environment) runBeam(ctx context.Context, p *beam.Pipeline) error {
	if Local() {
		return runPipeline(ctx, localRunner, p)
	}
	// The runner must be reachable, and what Beam leaves behind there is removed.
	if err := reachEndpoint(ctx); err != nil {
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
	return runPipeline(ctx, *runners.Runner, p)
}

// runPipeline runs a pipeline on a runner that receives no jobs at an endpoint. Beam may report a canceled job as done,
// and panic at a deadline: only the cancellation of ctx is passed on, and checked afterwards.
func runPipeline(ctx context.Context, runner string, p *beam.Pipeline) error {
	running, end := CancelLater(ctx, 0)
	defer end()
	_, err := beam.Run(running, runner, p)
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
		o.Runner, o.Environment = localRunner, "LOOPBACK"
	}
	return o
}

// CancelLater returns a context without a deadline that is canceled a while after ctx. end releases its resources.
func CancelLater(ctx context.Context, wait time.Duration) (later context.Context, end func()) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(wait, cancel) })
	return later, func() {
		stop()
		cancel()
	}
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

// quietBeam discards the log of Beam, which has many lines for each job, unless verbose is set. RunBeam returns errors,
// and package progress shows progress.
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
