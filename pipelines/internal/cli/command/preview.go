package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"tagnet/pipelines/internal/cli/job"
)

// errShown ends a run that has printed what --plan or --dry_run asks for. Its exit code is ExitOK.
var errShown = errors.New("nothing was run: --plan or --dry_run")

// Work describes, for --plan and --dry_run, how a pipeline makes one folder.
type Work struct {
	// Jobs builds the Beam pipelines as they will run, without the folder's lock.
	Jobs func() ([]*beam.Pipeline, error)
	// Memory is --memory, in MiB. The input are Count of Unit, such as queries.
	Memory, Count int64
	Unit          string
	// Loads are the inputs of the steps, Cost is their time; 0 seconds stands for an unknown Cost.
	Loads []Load
	Cost  Cost
}

// Ready returns the function of workspace.Output.Ready: it checks that the jobs can run, before anything
// is locked or removed. With --dry_run it prints them, with --plan what was checked, and its error ends the run.
func (e *Environment) Ready(w Work) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		checks, err := e.preflight(ctx)
		if err != nil {
			return err
		}
		if e.Plan {
			return e.showPlan(ctx, checks, w)
		}
		for _, c := range checks {
			if c.warning {
				e.Progress.Print("%s: %s", c.subject, c.text)
			}
		}
		if !dryRun() {
			return nil
		}
		return e.showJobs(ctx, w)
	}
}

// showJobs prints the jobs as JSON and returns errShown.
func (e *Environment) showJobs(ctx context.Context, w Work) error {
	jobs, err := w.Jobs()
	if err != nil {
		return err
	}
	for _, p := range jobs {
		text, err := e.describe(ctx, p)
		if err != nil {
			return fmt.Errorf("--dry_run: %s", unwrapBeam(err.Error()))
		}
		fmt.Fprintln(e.jobs, text)
	}
	e.Say("--dry_run: the checks passed; nothing was submitted or written")
	return errShown
}

// describe returns a job as JSON, for Dataflow with the request that Beam would send.
func (e *Environment) describe(ctx context.Context, p *beam.Pipeline) (string, error) {
	var request json.RawMessage
	if dataflow() {
		var err error
		if request, err = dataflowRequest(ctx, p); err != nil {
			return "", err
		}
	}
	return job.Describe(ctx, p, e.jobOptions(), request)
}

// dataflowRequest returns what Beam's Dataflow runner logs with --dry_run: the request, and nothing
// else that is JSON.
func dataflowRequest(ctx context.Context, p *beam.Pipeline) (json.RawMessage, error) {
	logged := &jobLog{}
	log.SetLogger(logged)
	defer log.SetLogger(&log.Structural{})
	if _, err := beam.Run(ctx, *runners.Runner, p); err != nil {
		return nil, err
	}
	if logged.job == nil {
		return nil, errors.New("no job is printed by Beam")
	}
	return logged.job, nil
}

// jobLog is a log of Beam that keeps the last message which is a JSON object.
type jobLog struct {
	log.Structural
	job json.RawMessage
}

// Log implements log.Logger.
func (l *jobLog) Log(ctx context.Context, severity log.Severity, depth int, message string) {
	if strings.HasPrefix(message, "{") && json.Valid([]byte(message)) {
		l.job = json.RawMessage(message)
		return
	}
	l.Structural.Log(ctx, severity, depth+1, message)
}

// dryRun reports whether --dry_run is given, a flag that Beam's Dataflow runner defines.
func dryRun() bool {
	value, ok := flag.Lookup("dry_run").Value.(flag.Getter)
	return ok && value.Get() == true
}

// checkJobFlags returns an error for flags of Beam with which this process would not see a job end.
func (e *Environment) checkJobFlags(p Pipeline) error {
	template := flag.Lookup("template_location")
	switch {
	case p.WithoutJobs && dryRun():
		return Usage("--dry_run: %s runs no job", p.Name)
	case p.WithoutJobs:
		return nil
	case *jobopts.Async:
		return Usage("--async: %s has to see its job end, because it publishes the outputs then; leave the flag out and run the command under nohup or tmux",
			p.Name)
	case template != nil && template.Value.String() != "":
		return Usage("--template_location: %s has to see its job end, because it publishes the outputs then; leave the flag out, --dry_run prints the job",
			p.Name)
	case dryRun() && e.Plan:
		return Usage("--plan and --dry_run: give one of them")
	case dryRun() && p.Several:
		return Usage("--dry_run: %s runs several commands, each on the output of the one before; give the flag to those commands", p.Name)
	}
	return nil
}
