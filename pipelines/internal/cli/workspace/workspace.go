package workspace

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
)

// Default is the workspace of a pipeline without --workspace.
const Default = "./workspace"

// Workspace is a local folder or a gs:// prefix below which every pipeline reads and writes, and the run in it whose
// model is meant.
type Workspace struct{ root, run string }

// New returns the workspace at a path or URL, with its main run.
func New(root string) Workspace { return Workspace{root, checkpoint.DefaultRun} }

// WithRun returns the workspace with another run. The name has passed checkpoint.CheckRun.
func (w Workspace) WithRun(name string) Workspace { return Workspace{w.root, name} }

// Run returns the name of the run.
func (w Workspace) Run() string { return w.run }

// Root returns the path or URL as the user gave it.
func (w Workspace) Root() string { return w.root }

// Path returns the URL of a folder or file from its path below the workspace.
func (w Workspace) Path(elements ...string) string { return storage.Join(w.root, elements...) }

// Graph returns the folder of the tables that preprocess writes.
func (w Workspace) Graph() string { return w.Path(GraphFolder) }

// Distances returns the folder of a split's search tables.
func (w Workspace) Distances(split string) string { return w.Path(DistancesFolder(split)) }

// Checkpoints returns the folder of what train saves.
func (w Workspace) Checkpoints() string { return w.Path(w.CheckpointsFolder()) }

// TrainingLog returns the file with a line per epoch.
func (w Workspace) TrainingLog() string { return w.Path(w.InRun(metrics.HistoryFile)) }

// Evaluation returns the folder of a split's ranks and predictions.
func (w Workspace) Evaluation(split string) string { return w.Path(w.EvaluationFolder(split)) }

// Messages returns the folder of a split's message counts.
func (w Workspace) Messages(split string) string { return w.Path(w.MessagesFolder(split)) }

// Report returns the folder of the page.
func (w Workspace) Report() string { return w.Path("report") }

// GraphFolder is the graph's folder below the workspace, the key of Manifest.Inputs.
const GraphFolder = kg.Folder

// DistancesFolder returns a split's search tables below the workspace.
func DistancesFolder(split string) string { return "distances/" + split }

// BundlesFolder returns a folder of parts of the graph, with their queries, below the workspace.
func BundlesFolder(name string) string { return "bundles/" + name }

// Runs returns the names of the workspace's runs that have a file, in alphabetical order.
func (w Workspace) Runs(ctx context.Context) ([]string, error) {
	folder := w.Path(checkpoint.RunsFolder)
	urls, err := storage.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, url := range urls {
		name, _, below := strings.Cut(storage.Below(folder, url), "/")
		if below && checkpoint.CheckRun(name) == nil {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// CheckRunExists returns an error that names the runs of the workspace if its own run is not one of them. Without any
// run there is none to choose, and no error.
func (w Workspace) CheckRunExists(ctx context.Context) error {
	runs, err := w.Runs(ctx)
	if err != nil || len(runs) == 0 || slices.Contains(runs, w.run) {
		return err
	}
	return fmt.Errorf("the run %s does not exist; --run selects one of the runs that exist: %s", w.run, strings.Join(runs, ", "))
}

// InRun returns a path below the run's folder as one below the workspace, such as runs/main/evaluation/test.
func (w Workspace) InRun(path string) string { return checkpoint.RunFolder(w.run) + "/" + path }

// CheckpointsFolder returns the folder of what train saves, below the workspace.
func (w Workspace) CheckpointsFolder() string { return w.InRun(checkpoint.FolderName) }

// EvaluationFolder returns a split's evaluation below the workspace.
func (w Workspace) EvaluationFolder(split string) string { return w.InRun("evaluation/" + split) }

// AnswersFolder returns a folder of answers to a user's queries below the workspace.
func (w Workspace) AnswersFolder(name string) string { return w.InRun("answers/" + name) }

// FactsFolder returns a folder of a list of new facts below the workspace.
func (w Workspace) FactsFolder(name string) string { return w.InRun("facts/" + name) }

// NewestList returns the name of the run's list of new facts that was completed last, "" without one. In a bucket,
// which tells no times, it is the first by name.
func (w Workspace) NewestList(ctx context.Context) (newest string, err error) {
	var last time.Time
	folder := w.Path(w.FactsFolder(""))
	urls, err := storage.List(ctx, folder)
	for _, url := range urls {
		name, complete := strings.CutSuffix(storage.Below(folder, url), "/"+manifest.FileName)
		if !complete || strings.HasSuffix(name, NewFolder("")) {
			continue
		}
		if at := WrittenAt(url); newest == "" || at.After(last) {
			newest, last = name, at
		}
	}
	return newest, err
}

// WrittenAt returns when a file on this machine was written, the zero time of others.
func WrittenAt(url string) (when time.Time) {
	if file, err := os.Stat(strings.TrimPrefix(url, "file://")); err == nil {
		when = file.ModTime()
	}
	return when
}

// MessagesFolder returns a split's message counts below the workspace.
func (w Workspace) MessagesFolder(split string) string { return w.InRun("messages/" + split) }

// Command is a command line that a message recommends.
type Command struct {
	// Pipeline is the name of its folder below pipelines/.
	Pipeline string
	// Flags are its words, among them --workspace and --run unless those are the defaults.
	Flags []string
}

// Command returns the command line of a pipeline that works in this workspace.
func (w Workspace) Command(pipeline string, flags ...string) Command {
	if w.run != checkpoint.DefaultRun && HasRun(pipeline) {
		flags = append([]string{"--run", w.run}, flags...)
	}
	if w.root != Default {
		flags = append([]string{"--workspace", w.root}, flags...)
	}
	return Command{pipeline, flags}
}

// another returns the flag whose value leads to a folder that the command can write beside the one that exists, or "".
func (c Command) another() string {
	switch {
	case c.Pipeline == "train", c.givesModel():
		return "run"
	case !HasRun(c.Pipeline): // of the others the model would be another, too
		return "workspace"
	}
	return ""
}

// givesModel reports whether --model names weights that are no checkpoint of a run.
func (c Command) givesModel() bool {
	i := slices.Index(c.Flags, "--model") + 1
	if i == 0 || i == len(c.Flags) {
		return false
	}
	ref := pretrained.Ref{Name: c.Flags[i]}
	return ref.IsNamed() || ref.IsPyTorch()
}

// HasRun reports whether a pipeline reads or writes below a run: it has --run.
func HasRun(pipeline string) bool {
	return slices.Contains([]string{"train", "score", "ask", "discover", "messages", "report", "review", "serve"}, pipeline)
}

// With returns the command line with more flags.
func (c Command) With(flags ...string) Command {
	return Command{c.Pipeline, slices.Concat(c.Flags, flags)}
}

// String returns the command line as a shell takes it, with the program that this process belongs to.
func (c Command) String() string {
	line := program(startedAs, oneProgram, c.Pipeline)
	for _, word := range c.Flags {
		line += " " + names.Quote(word)
	}
	return line
}
