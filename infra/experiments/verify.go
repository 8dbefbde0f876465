package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/model/engine/kernel"
)

// deviceKernel is the kernel of epochs that a CUDA device computed.
const deviceKernel = "cuda"

// verify makes the runs again in a new state and compares their results with the committed ones, digit by digit.
func (s *session) verify(ctx context.Context) error {
	for _, r := range s.runs {
		status, err := s.engine.Inspect(ctx, r, false)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", r.ID(), err)
		case status.State == engine.Stale:
			return fmt.Errorf("%s cannot be verified: %s", r.ID(), status.Why)
		case status.Result == nil:
			return fmt.Errorf("%s has no result in %s to compare with", r.ID(), s.results)
		}
		if err := repeatable(*status.Result); err != nil {
			return fmt.Errorf("%s cannot be repeated here: %w", r.ID(), err)
		}
		s.statuses = append(s.statuses, status)
	}
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.build(ctx); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(s.state, "verify-")
	if err != nil {
		return err
	}
	stop, timeUp := s.stopInTime()
	defer stop()
	different := 0
	for i, r := range s.runs {
		want := *s.statuses[i].Result
		got, err := s.again(ctx, r, want, folder)
		if s.engine.Processes.Interrupted() {
			fmt.Fprintf(s.out, "%d of %d runs were compared, and %d of them differ; the same command begins again\n", i, len(s.runs), different)
			err = context.Canceled
			if timeUp() {
				err = fmt.Errorf("the time of --hours %v is over", s.hours)
			}
			return errors.Join(err, os.RemoveAll(folder))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID(), err)
		}
		differences, err := compare(want, got)
		if err != nil {
			return err
		}
		if len(differences) == 0 {
			fmt.Fprintf(s.out, "%s: every digit is that of the result; %s\n", r.ID(), summary(got))
			continue
		}
		different++
		fmt.Fprintf(s.out, "%s: differs%s\n  %s\n", r.ID(), commits(want, got), strings.Join(differences, "\n  "))
	}
	if different > 0 {
		return fmt.Errorf("%d of %d runs differ from their results; what was trained is in %s", different, len(s.runs), folder)
	}
	return os.RemoveAll(folder)
}

// repeatable returns an error if this machine cannot compute the epochs of a result as they were computed.
func repeatable(r results.Result) error {
	if len(r.Kernels) > 1 {
		return fmt.Errorf("its epochs were computed by several kernel variants, %s", strings.Join(r.Kernels, " and "))
	}
	if r.Kernels[0] == deviceKernel {
		return nil // train says if there is none
	}
	if _, err := kernel.Named(r.Kernels[0]); err != nil {
		return fmt.Errorf("the kernel variant of the result rounds differently from those of this machine: %w", err)
	}
	return nil
}

// again makes a run in another state with the kernels of its result. After an interrupt it returns neither a result nor an error.
func (s *session) again(ctx context.Context, r plan.Run, want results.Result, folder string) (got results.Result, err error) {
	e := &engine.Engine{
		Folders: engine.Folders{State: folder, Results: filepath.Join(folder, "results")},
		Program: s.engine.Program, Processes: s.engine.Processes, Threads: s.threads, Device: "cpu", Kernel: want.Kernels[0],
	}
	if want.Kernels[0] == deviceKernel {
		e.Device, e.Kernel = "cuda", ""
	}
	e.Run(ctx, []plan.Run{r}, []engine.Status{{State: engine.Missing, Unscored: r.Protocols}}, func(event engine.Event) {
		switch {
		case event.Err != nil:
			err = event.Err
		case event.Result != nil:
			got = *event.Result
		}
	})
	return got, err
}

// commits names the commits of two results, if they differ.
func commits(want, got results.Result) string {
	if want.Commit == got.Commit {
		return ""
	}
	return fmt.Sprintf(" (the result is of commit %.12s, this program of %.12s)", known(want.Commit), known(got.Commit))
}

func known(commit string) string {
	if commit == "" {
		return "unknown"
	}
	return commit
}

// compare returns the values in which two results of a run differ, apart from those that no training repeats: times, the machine, the
// program, and the checksum of the graph, whose files also hold names of folders.
func compare(want, got results.Result) ([]string, error) {
	for _, r := range []*results.Result{&want, &got} {
		r.Commit, r.Modified, r.Machine, r.Commands, r.Graph, r.Inference = "", false, results.Machine{}, nil, "", ""
		r.Training.Seconds, r.Training.CPUSeconds = 0, 0
		r.Training.Curve = slices.Clone(r.Training.Curve)
		for i := range r.Training.Curve {
			r.Training.Curve[i].Seconds = 0
		}
		r.Evaluation = maps.Clone(r.Evaluation)
		for protocol, e := range r.Evaluation {
			e.Seconds = 0
			r.Evaluation[protocol] = e
		}
	}
	for protocol := range want.Evaluation { // among them those that the plan no longer has
		e, ok := got.Evaluation[protocol]
		switch {
		case !ok:
			delete(want.Evaluation, protocol)
		case want.Evaluation[protocol].ByDistance == nil: // an early result
			e.ByDistance = nil
			got.Evaluation[protocol] = e
		}
	}
	then, err := values(want)
	if err != nil {
		return nil, err
	}
	now, err := values(got)
	if err != nil {
		return nil, err
	}
	var differences []string
	all := maps.Clone(then)
	maps.Copy(all, now)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if then[path] != now[path] {
			differences = append(differences, fmt.Sprintf("%s: %s in the result, %s now", path, orNone(then[path]), orNone(now[path])))
		}
	}
	return differences, nil
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}

// values returns the numbers and texts of a result by their paths.
func values(r results.Result) (map[string]string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	byPath := map[string]string{}
	flatten(byPath, "", document)
	return byPath, nil
}

func flatten(byPath map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			flatten(byPath, strings.TrimPrefix(path+"."+key, "."), child)
		}
	case []any:
		for i, child := range value {
			flatten(byPath, fmt.Sprintf("%s[%d]", path, i), child)
		}
	default:
		byPath[path] = fmt.Sprint(value)
	}
}
