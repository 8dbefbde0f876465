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
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
)

// RunBeam runs a Beam pipeline on the runner that the flags name. The error of a DoFn comes
// back as the DoFn returned it, without what Beam wraps around it.
func (e *Environment) RunBeam(ctx context.Context, p *beam.Pipeline) (beam.PipelineResult, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := reachEndpoint(ctx); err != nil {
		return nil, err
	}
	if err := startPrism(ctx); err != nil {
		return nil, err
	}
	cleanup, err := privateTemporaryFolder()
	if err != nil {
		return nil, err
	}
	defer cleanup()
	// A cancelled job counts as done for Beam, and a deadline on this context would make
	// the SDK panic: only cancellation is passed on, and looked at afterwards.
	atLeast := time.Duration(0)
	if Local() {
		atLeast = workerStarts
	}
	begun := time.Now()
	running, end := CancelLater(ctx, func() time.Duration { return atLeast - time.Since(begun) })
	defer end()
	result, err := beamx.RunWithMetrics(running, p)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.New(unwrapBeam(err.Error()))
	}
	return result, nil
}

// workerStarts is well beyond the time that a local job takes to start its worker. Beam's local
// runner panics, and the process with it, where the job has ended by then.
const workerStarts = time.Second

// CancelLater returns a context that is cancelled when ctx is, but so long after it as wait then
// says, and that has no deadline. end releases it.
func CancelLater(ctx context.Context, wait func() time.Duration) (later context.Context, end func()) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(wait(), cancel) })
	return later, func() {
		stop()
		cancel()
	}
}

// Counters returns the committed values of a result's counters, summed over the steps that
// count under the same name.
func Counters(result beam.PipelineResult) map[string]int64 {
	counts := map[string]int64{}
	all := result.Metrics().Query(func(metrics.SingleResult) bool { return true })
	for _, c := range all.Counters() {
		counts[c.Name()] += c.Result()
	}
	return counts
}

// Local tells whether the flags ask for Beam's local runner, which works in this process and has
// all that crosses a barrier in its memory.
func Local() bool {
	return *runners.Runner == "" || *runners.Runner == "prism" || *runners.Runner == "PrismRunner"
}

// startPrism starts Beam's local runner, once, if that is what the flags ask for. Beam would
// start it by itself, but in the middle of the first run, while progress already asks where it is.
func startPrism(ctx context.Context) error {
	if !Local() || *jobopts.Endpoint != "" {
		return nil
	}
	var err error
	for range 8 {
		var port int
		if port, err = freePort(); err != nil {
			return fmt.Errorf("starting Beam's local runner: %w", err)
		}
		// The port may be taken between the two calls, then another is tried.
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

// servePrism turns the panic of a taken port into an error.
func servePrism(ctx context.Context, port int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	_, err = prism.CreateJobServer(ctx, prism.Options{Port: port})
	return err
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// privateTemporaryFolder gives Beam, which leaves a file behind in each run, a temporary
// folder that the returned function removes.
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

// quietBeam keeps the log of Beam and of its local runner, many lines for each job, from the
// terminal: errors come back from RunBeam, and progress is shown otherwise.
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

// unwrapBeam cuts what Beam says around a DoFn's error. Other texts come back as they are.
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
