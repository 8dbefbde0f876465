package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tagnet/formats/names"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/parameters"
	"tagnet/model/zoo"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/encode"
)

// ModelUsage explains the flag --model.
func ModelUsage() string {
	return fmt.Sprintf("`best|last|EPOCH|%s|FILE`: a checkpoint of the run; a trained model that tagnet comes with, of which zero answers on any graph and "+
		"is taken where nothing is trained; or the file of a checkpoint, or of ULTRA's weights (.pth), which answer on any graph", strings.Join(zoo.Names, "|"))
}

// ChooseModel sets --model to zero, and says so, where no flag names a model and nothing is trained in the workspace.
func (e *Environment) ChooseModel(ctx context.Context, model *string) error {
	if e.HasFlag("model") || e.HasFlag("run") {
		return nil
	}
	trained, err := checkpoint.Trained(ctx, e.Workspace.Root())
	if err != nil || trained {
		return err
	}
	*model = zoo.Zero
	e.Say("no model is trained in this workspace: %s answers, tagnet's foundation model; a better one: %s, or without --from for longer",
		zoo.Zero, e.Workspace.Command("train", "--from", zoo.Zero))
	return nil
}

// Open opens what --model names; notCheckpoint reports that it is none of the checkpoints.
func (e *Environment) Open(ctx context.Context, model string, loaded *kg.KG) (m *answer.Model, notCheckpoint bool, err error) {
	if err := e.ChooseModel(ctx, &model); err != nil {
		return nil, false, err
	}
	if ref := (pretrained.Ref{Name: model}); ref.IsNamed() || ref.IsPyTorch() {
		m, err = e.OpenModel(ctx, model, loaded)
		return m, true, err
	}
	m, err = e.OpenCheckpoint(ctx, model, loaded)
	return m, false, err
}

// OpenModel opens a model of package zoo or a file of ULTRA's weights, which --model names, over the workspace's graph
// without the facts of relations that the model does not know, and says what it is.
func (e *Environment) OpenModel(ctx context.Context, model string, loaded *kg.KG) (*answer.Model, error) {
	weights, err := OpenWeights(ctx, "model", model)
	if err != nil {
		return nil, err
	}
	known, note, err := e.known(ctx, loaded, weights.Weights)
	if err != nil {
		return nil, err
	}
	m, err := answer.FromWeights(known, weights.Weights, answer.Resources{})
	if err != nil {
		return nil, weights.flagged(err)
	}
	for _, line := range append(weights.Lines(m.Unused), note...) {
		e.Say("%s", line)
	}
	return m, nil
}

// known returns the graph without the facts of relations that weights lack, and a line about them if there are some.
func (e *Environment) known(ctx context.Context, loaded *kg.KG, weights *pretrained.Weights) (*kg.KG, []string, error) {
	lack := weights.Unknown(loaded.Relations)
	if len(lack) == 0 {
		return loaded, nil, nil
	}
	if loaded.Train.Graph.IsOutline() {
		unknown := new(checkpoint.UnknownRelationsError)
		_, _, err := weights.Over(loaded.Relations)
		errors.As(err, &unknown)
		return nil, nil, remedy.Errorf(remedy.Do("leave %v out", remedy.Flag("bundles")),
			"%w: parts of the graph have facts of these, which only the whole graph can leave out", unknown)
	}
	known, err := encode.Load(ctx, e.Workspace.Graph(), lack...)
	if err != nil {
		return nil, nil, err
	}
	facts := (loaded.Inference.Graph.Edges() - known.Inference.Graph.Edges()) / 2
	return known,
		[]string{fmt.Sprintf("the model does not know %d of the graph's relations (%s): their %d facts are left out, and queries of a split about them",
			len(lack), names.First(lack, 3), facts)}, nil
}

// checkpointName matches the names of the checkpoints of a run.
var checkpointName = regexp.MustCompile(`^(best|last|[0-9]+|epoch-[0-9]+|step-[0-9]+)(\.safetensors)?$`)

// NamesCheckpoint reports whether --model can name a checkpoint, of the run or by the path of its file.
func NamesCheckpoint(model string) bool {
	return strings.ContainsAny(model, `/\`) || checkpointName.MatchString(model)
}

// OpenCheckpoint opens the checkpoint that --model names over the graph, so that a checkpoint that is damaged or does
// not fit the graph fails at once, and prints what a user should know: the training was on another graph or is
// incomplete, or some facts are left out. If there is no checkpoint, the error names the command that makes it.
func (e *Environment) OpenCheckpoint(ctx context.Context, named string, loaded *kg.KG) (*answer.Model, error) {
	w := e.Workspace
	ref := pretrained.Ref{Folder: checkpoint.Folder(w.Checkpoints()), Name: named}
	if !NamesCheckpoint(named) {
		return nil, FlagError("model", strconv.Quote(named), "best, last, an epoch's number, one of "+strings.Join(zoo.Names, ", ")+", or the path of a file")
	}
	// The checkpoint may belong to another workspace.
	folder, _ := ref.Checkpoint()
	ofWorkspace := sameFolder(string(folder), w.Checkpoints())
	// Without a manifest the training is incomplete; its finished epochs can be used.
	_, err := manifest.Read(ctx, string(folder))
	finished := !errors.Is(err, fs.ErrNotExist)
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return nil, err
	case err != nil && finished:
		return nil, fmt.Errorf("%w: %s with the flags of that training overwrites it", err, w.Command("train", "--force"))
	}
	// Relations are matched by name; facts of unknown ones are left out.
	weights, err := ref.Open(ctx)
	if err != nil {
		return nil, e.withoutCheckpoint(ctx, err, folder, ofWorkspace)
	}
	known, notes, err := e.known(ctx, loaded, weights)
	if err != nil {
		return nil, err
	}
	m, err := answer.FromWeights(known, weights, answer.Resources{})
	if err != nil {
		return nil, e.withoutCheckpoint(ctx, err, folder, ofWorkspace)
	}
	// A model of another graph, or of an unfinished training, is used with a warning.
	trained := m.Record.Vocabulary.Graph
	switch {
	case trained != "" && trained != loaded.Manifest.Checksum && ofWorkspace:
		notes = append(notes, fmt.Sprintf("the model was trained on another graph and may know the answers: %s with the flags it had trains on this one",
			w.Command("train", "--force")))
	case trained != "" && trained != loaded.Manifest.Checksum:
		notes = append(notes, "the model was trained on another graph and may know the answers")
	case !ofWorkspace:
	case !finished && errors.As(lock.CheckFree(ctx, string(folder)), new(*lock.Held)):
		notes = append(notes, "the training is still running; using "+m.Record.Name())
	case !finished:
		notes = append(notes, fmt.Sprintf("training incomplete; using %s. Resume: %s", m.Record.Name(), w.Command("train", "--resume")))
	}
	for _, note := range notes {
		e.Say("%s", note)
	}
	return m, nil
}

// withoutCheckpoint adds the remedy to the error of a checkpoint.
func (e *Environment) withoutCheckpoint(ctx context.Context, err error, folder checkpoint.Folder, ofWorkspace bool) error {
	w := e.Workspace
	var damaged *checkpoint.DamagedError
	switch {
	case errors.Is(err, checkpoint.ErrNone):
		if held := new(lock.Held); errors.As(lock.CheckFree(ctx, string(folder)), &held) {
			o := held.Owner
			return fmt.Errorf("%w yet; a training is running (process %d on host %s since %s): wait for its first epoch", err, o.Process, o.Host,
				o.Begun.Format(time.DateTime+" MST"))
		}
		if !ofWorkspace {
			return fmt.Errorf("--model: %w; give best, last, an epoch's number, or the path of a checkpoint's file", err)
		}
		others := ""
		runs, _ := w.Runs(ctx) // the error is about this run
		runs = slices.DeleteFunc(runs, func(run string) bool { return run == w.Run() })
		if len(runs) > 0 {
			others = "; --run selects one of the runs that exist: " + strings.Join(runs, ", ")
		}
		return fmt.Errorf("%w: run %s first; if it was interrupted, add --resume; --model zero answers on any graph%s", err, w.Command("train"), others)
	case errors.As(err, &damaged):
		return fmt.Errorf("%w: name another with --model, or train again: %s with the flags of that training", err, w.Command("train", "--force"))
	case errors.Is(err, checkpoint.ErrMismatch):
		return fmt.Errorf("%w: %s with the flags it had trains on this graph, and --model zero answers on any", err, w.Command("train", "--force"))
	}
	return err
}

// Weights come from a model that was trained before, which a flag names.
type Weights struct {
	*pretrained.Weights
	ref  pretrained.Ref
	flag string
}

// OpenWeights opens the model of package zoo, the checkpoint or the file that a flag names. Errors name the flag.
func OpenWeights(ctx context.Context, flag, file string) (*Weights, error) {
	ref := pretrained.Ref{Name: file}
	opened, err := ref.Open(ctx)
	w := &Weights{opened, ref, flag}
	if err != nil && ref.IsNamed() {
		return nil, fmt.Errorf("--%s %s: this program was built of other files than the repository's: build it again: %w", flag, file, err)
	}
	if err != nil {
		return nil, w.flagged(err)
	}
	return w, nil
}

// flagged makes the error of the file, or that it does not fit a graph, one of the flag that names it.
func (w *Weights) flagged(err error) error {
	bad, unknown := new(pretrained.FileError), new(checkpoint.UnknownRelationsError)
	switch {
	case errors.As(err, &unknown):
		return Usage("--%s %s: %v; train a model on this dataset, or give --%s zero, which answers on any graph", w.flag, w.name(), unknown, w.flag)
	case !errors.As(err, &bad):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return MissingFile(w.flag, bad.URL, err)
	case bad.Other:
		return Usage("--%s: %v", w.flag, err)
	}
	return fmt.Errorf("--%s: %w", w.flag, err)
}

// Over returns the parameters over the relations of a graph, and the relations of the weights that it lacks.
func (w *Weights) Over(relations []string) (set *parameters.Set[float32], unused []string, err error) {
	if set, unused, err = w.Weights.Over(relations); err != nil {
		err = w.flagged(err)
	}
	return set, unused, err
}

// name returns the file's path, or the name of a model as package zoo writes it.
func (w *Weights) name() string {
	if w.ref.IsNamed() {
		return strings.ToLower(w.ref.Name)
	}
	return w.ref.Name
}

// Lines says what the weights are, and which of their relations the graph lacks, if there are any.
func (w *Weights) Lines(unused []string) []string {
	kind := "weights of"
	if w.ref.IsNamed() {
		kind = "model"
	}
	lines := []string{fmt.Sprintf("%s %s: %s", kind, w.name(), w.Description)}
	if len(unused) > 0 {
		lines = append(lines, fmt.Sprintf("the graph lacks %s of the relations of %s (%s); their weights are left out", progress.Count(int64(len(unused))),
			w.name(), names.First(unused, 3)))
	}
	return lines
}

// sameFolder returns true if two paths or URLs lead to one folder.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
