package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/storage/check"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// State is how far a run is.
type State string

// The states of a run.
const (
	Done        State = "done"        // its result is complete
	Stale       State = "stale"       // it was made with another configuration than the plan has now, or is damaged
	Running     State = "running"     // another process works on it
	Trained     State = "trained"     // only evaluations or the result are missing
	Interrupted State = "interrupted" // its training can be resumed
	Missing     State = "missing"     // nothing of it exists
)

// Status describes how far a run is.
type Status struct {
	State State
	// Why describes the differences or the damage of a stale run, or the process that works on a running one.
	Why string
	// Epochs is the number of epochs that are trained.
	Epochs int
	// Result is the run's result file, nil without one.
	Result *results.Result
	// Unscored are the protocols whose evaluation is missing: all, while the training is not finished.
	Unscored []string
	// OtherData reports that the result names another dataset or inference graph, whose facts may nevertheless be the same.
	OtherData bool
}

// Folders are where runs are kept.
type Folders struct {
	// State has the workspaces, Results the result files.
	State, Results string
}

// Workspace returns the workspace of a dataset.
func (f Folders) Workspace(dataset string) string { return filepath.Join(f.State, dataset) }

// Log returns the file with the output of a run's processes.
func (f Folders) Log(dataset, run string) string {
	return filepath.Join(f.State, "logs", dataset, run+".log")
}

func (f Folders) checkpoints(r plan.Run) checkpoint.Folder {
	return checkpoint.FolderOf(f.Workspace(r.Dataset), r.Name())
}

// evaluation returns the folder of the metrics of a protocol.
func (f Folders) evaluation(r plan.Run, protocol string) string {
	return filepath.Join(f.Workspace(r.Dataset), checkpoint.RunFolder(r.Name()), "evaluation", protocol)
}

// Inspect returns how far a run is, from its result and its workspace. It changes nothing. With force it ignores a stale result, so that the
// workspace alone decides.
func (f Folders) Inspect(ctx context.Context, r plan.Run, force bool) (Status, error) {
	s := Status{State: Missing, Unscored: r.Protocols}
	f.inspectResult(ctx, r, &s)
	if s.State == Done || s.State == Stale && !force {
		return s, nil
	}
	s.State, s.Why = Missing, ""
	return s, f.inspectTraining(ctx, r, &s)
}

// inspectResult sets the state of a run that has a result.
func (f Folders) inspectResult(ctx context.Context, r plan.Run, s *Status) {
	result, err := results.Read(ctx, filepath.Join(f.Results, r.Dataset, r.Name()+".json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		s.State, s.Why = Stale, err.Error()
		return
	}
	s.Result = &result
	if why := differs(r, result.Configuration, result.Seed, result.Validation); why != "" {
		s.State, s.Why = Stale, "the result has "+why
		return
	}
	if made, now := result.Commands[0], f.commands(r)[0]; made != now {
		s.State, s.Why, s.OtherData = Stale, fmt.Sprintf("the result was made from other data: %s instead of %s", made, now), true
		return
	}
	missing := slices.DeleteFunc(slices.Clone(r.Protocols), func(p string) bool { _, ok := result.Evaluation[p]; return ok })
	if len(missing) == 0 {
		s.State, s.Epochs, s.Unscored = Done, result.Training.Epochs, nil
	}
}

// inspectTraining sets the state of a run from its workspace.
func (f Folders) inspectTraining(ctx context.Context, r plan.Run, s *Status) error {
	folder := f.checkpoints(r)
	records, damaged, err := folder.Records(ctx)
	if err != nil {
		return err
	}
	if held := f.held(ctx, r); held != nil {
		s.State, s.Why = Running, fmt.Sprintf("process %d on %s", held.Owner.Process, held.Owner.Host)
	}
	if len(records) == 0 {
		if len(damaged) > 0 {
			s.State, s.Why = Stale, damaged[0].Error()
		}
		return nil
	}
	last := records[len(records)-1]
	s.Epochs = last.Epoch
	if last.Partial != nil {
		s.Epochs--
	}
	encoded, err := json.Marshal(last.Configuration)
	if err != nil {
		return err
	}
	if why := differs(r, encoded, last.Seed, last.Validation); why != "" {
		s.State, s.Why = Stale, "the checkpoints have "+why
		return nil
	}
	if s.State == Running {
		return nil
	}
	_, err = manifest.Read(ctx, string(folder))
	if errors.Is(err, fs.ErrNotExist) {
		s.State = Interrupted
		return nil
	}
	var best checkpoint.Record
	if err == nil {
		best, err = f.best(ctx, r)
	}
	if err != nil {
		s.State, s.Why = Stale, err.Error()
		return nil
	}
	s.State = Trained
	s.Unscored = slices.DeleteFunc(slices.Clone(r.Protocols), func(p string) bool { return f.evaluates(ctx, r, p, best) })
	return nil
}

// held returns the lock of another process that trains or evaluates the run, or nil.
func (f Folders) held(ctx context.Context, r plan.Run) *lock.Held {
	folders := []string{string(f.checkpoints(r))}
	for _, p := range r.Protocols {
		folders = append(folders, f.evaluation(r, p))
	}
	for _, folder := range folders {
		var held *lock.Held
		if errors.As(lock.CheckFree(ctx, folder), &held) {
			return held
		}
	}
	return nil
}

// best returns the record of the best checkpoint of a finished training.
func (f Folders) best(ctx context.Context, r plan.Run) (checkpoint.Record, error) {
	folder := f.checkpoints(r)
	name, err := folder.Best(ctx)
	if err != nil {
		return checkpoint.Record{}, err
	}
	return folder.Record(ctx, name)
}

// evaluates reports whether the evaluation of a protocol is complete and of the best checkpoint.
func (f Folders) evaluates(ctx context.Context, r plan.Run, protocol string, best checkpoint.Record) bool {
	m, err := manifest.Read(ctx, f.evaluation(r, protocol))
	if err != nil {
		return false
	}
	var of struct{ Weights string }
	return json.Unmarshal(m.Configuration, &of) == nil && of.Weights == best.Weights.SHA256
}

// differs returns the differences between a training and the plan, such as "delta 3 instead of 2", or "".
func differs(r plan.Run, text json.RawMessage, seed int64, validation metrics.Validation) string {
	// A field that was added since then is zero in the text, which stands for what the engine did before.
	var trained configuration.Configuration
	if err := json.Unmarshal(text, &trained); err != nil {
		return "a configuration that cannot be read: " + err.Error()
	}
	var differences []string
	for _, f := range configuration.Fields() {
		if then, now := f.Of(trained), f.Of(r.Configuration); then != now {
			differences = append(differences, fmt.Sprintf("%s %v instead of %v", f.Name, then, now))
		}
	}
	slices.Sort(differences)
	if seed != r.Seed {
		differences = append(differences, fmt.Sprintf("seed %d instead of %d", seed, r.Seed))
	}
	if validation != r.Validation {
		differences = append(differences, fmt.Sprintf("validation every %d epochs of at most %d queries instead of %d and %d", validation.Every, validation.Limit, r.Validation.Every, r.Validation.Limit))
	}
	return strings.Join(differences, ", ")
}

// graphSummary has what the engine needs of the summary.json of a graph.
type graphSummary struct {
	Inference      string
	Edges          int64
	InferenceGraph *struct{ Edges int64 } `json:"inference_graph"`
}

// Check returns an error for numbers that no graph has.
func (s graphSummary) Check() error {
	if s.InferenceGraph != nil {
		return check.Count("inference_graph.edges", s.InferenceGraph.Edges)
	}
	return check.Count("edges", s.Edges)
}

// graph returns the checksum of a workspace's graph and the number of edges of the graph that test queries are about.
func (f Folders) graph(ctx context.Context, r plan.Run) (checksum, inference string, edges int64, err error) {
	folder := storage.Join(f.Workspace(r.Dataset), "graph")
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return "", "", 0, err
	}
	summary, err := storage.ReadJSON[graphSummary](ctx, storage.Join(folder, "summary.json"))
	if err != nil {
		return "", "", 0, err
	}
	if summary.InferenceGraph != nil {
		return m.Checksum, summary.Inference, summary.InferenceGraph.Edges, nil
	}
	return m.Checksum, "", summary.Edges, nil
}
