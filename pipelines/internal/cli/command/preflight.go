package command

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core"

	"tagnet/formats/storage"
	"tagnet/pipelines/internal/cli/job"
	"tagnet/pipelines/internal/cli/progress"
)

// check is one line of a plan: the name and the result of a check. A warning is shown before each job, too.
type check struct {
	subject, text string
	warning       bool
}

// preflight checks what a job needs from its runner. Its error means that the job cannot run. It submits
// nothing and leaves nothing behind.
func (e *Environment) preflight(ctx context.Context) ([]check, error) {
	if err := reachEndpoint(ctx); err != nil {
		return nil, err
	}
	o := e.jobOptions()
	if !job.Selected() {
		return []check{{"runner", o.Runner + ", Beam Go SDK " + core.SdkVersion, false}}, nil
	}
	checks := []check{{"runner", fmt.Sprintf("%s, its job server answers at %s; Beam Go SDK %s", o.Runner, o.Endpoint, core.SdkVersion), false}}
	flink, overview, err := job.FindFlink(ctx, o)
	if err != nil {
		return nil, err
	}
	if flink != nil {
		checks = append(checks, slots(flink, overview, o))
	}
	if o.Worker != "" {
		if _, err := os.Stat(o.Worker); err != nil {
			return nil, Usage("--worker_binary: %v; CGO_ENABLED=0 go build ./infra/worker makes one", err)
		}
	}
	program, warning := o.Program()
	return append(checks, e.visible(o), check{"workers", program, warning}), nil
}

// slots compares the free slots of Flink with --parallelism.
func slots(flink *job.Flink, overview job.Overview, o job.Options) check {
	c := check{subject: "slots", text: fmt.Sprintf("Flink %s at %s has %d TaskManagers with %d slots, of which %d are free", overview.Version, flink.Address,
		overview.TaskManagers, overview.Slots, overview.Free)}
	if !flink.NamedByUser {
		c.text += " (if it is the job server's; --flink_rest names another)"
	}
	if o.Parallelism > overview.Free {
		c.text += fmt.Sprintf("; --parallelism %d waits for more", o.Parallelism)
		c.warning = flink.NamedByUser
	}
	return c
}

// visible says whether workers see the workspace.
func (e *Environment) visible(o job.Options) check {
	root := e.Workspace.Root()
	switch {
	case !onThisMachine(root):
		return check{"workspace", root + ", which workers reach with their own credentials", false}
	case o.Environment == "LOOPBACK":
		return check{"workspace", root + ", with workers in this process (LOOPBACK: all TaskManagers on this machine)", false}
	}
	return check{"workspace", root + " is a local path: every host of the cluster must have this folder mounted there; else use gs://bucket/prefix", true}
}

// showPlan prints the checks, the jobs and what they need, and returns errShown. Inside another command it
// prints the jobs alone.
func (e *Environment) showPlan(ctx context.Context, checks []check, w Work) error {
	if !e.embedded {
		if err := e.showChecks(ctx, checks, w); err != nil {
			return err
		}
	}
	if w.Jobs != nil {
		if err := e.showJobSteps(ctx, w); err != nil {
			return err
		}
	}
	if !e.embedded {
		if !Elsewhere() {
			e.Say("%-10s %d cores", "here", runtime.GOMAXPROCS(0))
		}
		e.Say("--plan: the checks passed; nothing was submitted")
	}
	return errShown
}

// showChecks prints the checks, and checks the workspace.
func (e *Environment) showChecks(ctx context.Context, checks []check, w Work) error {
	for _, c := range checks {
		mark := ""
		if c.warning {
			mark = "warning: "
		}
		e.Say("%-10s %s%s", c.subject, mark, c.text)
	}
	if err := storage.CheckWritable(ctx, e.Workspace.Root()); err != nil {
		return err
	}
	e.Say("%-10s %s can be written", "output", e.Workspace.Root())
	if w.Memory > 0 {
		e.Say("%-10s at most %d MiB for a worker process (--memory), and what the cluster takes beside it", "memory", w.Memory)
	}
	return nil
}

// showJobSteps prints the jobs and the inputs of their steps.
func (e *Environment) showJobSteps(ctx context.Context, w Work) error {
	e.Say("%-10s %s %s", "input", progress.Count(w.Count), w.Unit)
	jobs, err := w.Jobs()
	if err != nil {
		return err
	}
	for _, p := range jobs {
		steps, err := job.Steps(ctx, p, e.jobOptions())
		if err != nil {
			return err
		}
		e.Say("%-10s %s", "job", strings.Join(steps, ", "))
	}
	for _, l := range w.Loads {
		e.Say("%-10s %s", "step", l)
	}
	if w.Cost.Seconds > 0 {
		e.Say("%-10s %s", "time", w.Cost)
	}
	return nil
}
