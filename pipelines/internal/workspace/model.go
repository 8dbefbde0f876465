package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/formats/names"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/model/pretrained"
	"tagnet/stages/graph"
	"tagnet/stages/worker"
)

// Model is a checkpoint that was opened.
type Model struct {
	Folder checkpoint.Folder
	Record checkpoint.Record
	// Graph is the graph without the facts of relations that the model does not know.
	Graph *kg.KG
	// Notes say what a user should know: the training was on another graph or is incomplete, or some facts are left out.
	Notes []string
}

// OpenModel finds and reads the checkpoint that --checkpoint names, so that one that is damaged or
// does not fit the graph fails at once; the steps of the pipeline that run in this process share what
// was read. If there is none, the error names the command that makes it.
func (w Workspace) OpenModel(ctx context.Context, named string, loaded *kg.KG) (Model, error) {
	if pretrained.IsFile(named) {
		return Model{}, fmt.Errorf("--checkpoint: %s is no checkpoint of tagnet; score and serve take ULTRA's weights with --model %[1]s", named)
	}
	folder, name := checkpoint.Locate(checkpoint.Folder(w.Checkpoints()), named)
	// Without a manifest the training is incomplete; its finished epochs can be used.
	_, err := manifest.Read(ctx, string(folder))
	finished := !errors.Is(err, fs.ErrNotExist)
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return Model{}, err
	case err != nil && finished:
		return Model{}, fmt.Errorf("%w: %s with the flags of that training overwrites it", err, w.Command("train", "--force"))
	}
	m := Model{Folder: folder, Graph: loaded}
	m.Record, _, err = worker.Weights(ctx, folder, name, loaded)
	if unknown := new(checkpoint.UnknownRelationsError); errors.As(err, &unknown) && len(unknown.Unknown) < len(loaded.Relations) {
		var note string
		if m.Graph, note, err = w.Known(ctx, loaded, unknown); err != nil {
			return Model{}, err
		}
		m.Notes = append(m.Notes, note)
		m.Record, _, err = worker.Weights(ctx, folder, name, m.Graph)
	}
	var damaged *checkpoint.DamagedError
	switch {
	case errors.Is(err, checkpoint.ErrNone):
		if held := new(lock.Held); errors.As(lock.CheckFree(ctx, string(folder)), &held) {
			o := held.Owner
			return Model{}, fmt.Errorf("%w yet; a training is running (process %d on host %s since %s): wait for its first epoch", err, o.Process, o.Host, o.Begun.Format(time.DateTime+" MST"))
		}
		if !sameFolder(string(folder), w.Checkpoints()) {
			return Model{}, fmt.Errorf("--checkpoint: %w; give best, last, an epoch's number, or the path of a checkpoint's file", err)
		}
		others := ""
		runs, _ := w.Runs(ctx) // the error is about this run
		runs = slices.DeleteFunc(runs, func(run string) bool { return run == w.Run() })
		if len(runs) > 0 {
			others = "; --run selects one of the runs that exist: " + strings.Join(runs, ", ")
		}
		return Model{}, fmt.Errorf("%w: run %s first; if it was interrupted, add --resume; score and serve also take --model zero, of any graph, and other pretrained ones%s", err, w.Command("train"), others)
	case errors.As(err, &damaged):
		return Model{}, fmt.Errorf("%w: name another with --checkpoint, or train again: %s with the flags of that training", err, w.Command("train", "--force"))
	case errors.Is(err, checkpoint.ErrMismatch):
		return Model{}, fmt.Errorf("%w: %s with the flags it had trains on this graph, and score and serve with --model zero answer on any", err, w.Command("train", "--force"))
	case err != nil:
		return Model{}, err
	}
	own := sameFolder(string(folder), w.Checkpoints())
	trained := m.Record.Vocabulary.Graph
	switch {
	case trained != "" && trained != loaded.Manifest.Checksum && own:
		m.note("the model was trained on another graph and may know the answers: %s with the flags it had trains on this one", w.Command("train", "--force"))
	case trained != "" && trained != loaded.Manifest.Checksum:
		m.note("the model was trained on another graph and may know the answers")
	case !own:
	case !finished && errors.As(lock.CheckFree(ctx, string(folder)), new(*lock.Held)):
		m.note("the training is still running; using %s", m.Record.Name())
	case !finished:
		m.note("training incomplete; using %s. Resume: %s", m.Record.Name(), w.Command("train", "--resume"))
	}
	return m, nil
}

func (m *Model) note(format string, values ...any) {
	m.Notes = append(m.Notes, fmt.Sprintf(format, values...))
}

// Known returns the graph without the facts of relations that a model does not know, and a note about them.
func (w Workspace) Known(ctx context.Context, loaded *kg.KG, e *checkpoint.UnknownRelationsError) (*kg.KG, string, error) {
	if loaded.Train.Graph.IsOutline() {
		return nil, "", remedy.Errorf("leave --bundles out", "%w: parts of the graph have facts of these, which only the whole graph can leave out", e)
	}
	known, err := graph.Load(ctx, w.Graph(), e.Unknown...)
	if err != nil {
		return nil, "", err
	}
	facts := (loaded.Inference.Graph.Edges() - known.Inference.Graph.Edges()) / 2
	return known, fmt.Sprintf("the model does not know %d of the graph's relations (%s): their %d facts are left out, and queries of a split about them",
		len(e.Unknown), names.First(e.Unknown, 3), facts), nil
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
