package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/distances"
	"tagnet/stages/evaluate"
	"tagnet/stages/graph"
	"tagnet/stages/learn"
	"tagnet/stages/messages"
	"tagnet/stages/statistics"
)

// evidence is the content of a workspace that the page shows. What could not be read is nil or
// empty and has a gap.
type evidence struct {
	root        string
	graph       *graph.Summary
	distances   []distances.Distribution
	epochs      []learn.Epoch
	best        string
	checkpoint  *checkpoint.Record
	toGo        int // configured epochs of a training that is not finished, else 0
	evaluations []evaluation
	queries     []answered
	messages    []messages.Summary
	analysis    *statistics.Analysis
	gaps        map[string][]gap // by section
	damage      error            // of the first file that is damaged
}

// evaluation is what score wrote about a split.
type evaluation struct {
	evaluate.Metrics
	ranks []ranked // of each query
	cards []card
}

// The sections of the page: keys of gaps and link targets.
const (
	dataSection       = "data"
	learningSection   = "learning"
	answersSection    = "answers"
	messagesSection   = "messages"
	queriesSection    = "queries"
	parametersSection = "configuration"
)

// collect reads a workspace. Outputs that are not complete, or that were made from another graph than
// the present one, have a gap instead. It returns an error if a file is damaged or ctx is cancelled.
func collect(ctx context.Context, w workspace.Workspace) (*evidence, error) {
	e := &evidence{root: w.Root(), gaps: map[string][]gap{}}
	e.readGraph(ctx, w)
	e.readDistances(ctx, w)
	e.readTraining(ctx, w)
	e.readEvaluations(ctx, w)
	e.readQueries(ctx, w)
	e.readMessages(ctx, w)
	e.readAnalysis(ctx, w)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return e, e.damage
}

// whole returns nil if a folder is complete, undamaged and made from the present inputs.
func (e *evidence) whole(ctx context.Context, w workspace.Workspace, folder string, command workspace.Command) error {
	_, err := w.Require(ctx, folder, command)
	if errors.Is(err, manifest.ErrDamaged) {
		e.damage = cmp.Or(e.damage, err)
	}
	return err
}

// missing notes a gap: something that does not exist or cannot be read, and the command that makes
// it, with --force if it has to be overwritten.
func (e *evidence) missing(section, what string, command workspace.Command, err error) {
	g := gap{What: what, Command: command.String()}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.Problem = err.Error()
		if unusable := new(workspace.Unusable); errors.As(err, &unusable) {
			g.Problem = unusable.Reason.Error()
			g.Command = command.With("--force").String()
		}
	}
	e.gaps[section] = append(e.gaps[section], g)
}

func (e *evidence) readGraph(ctx context.Context, w workspace.Workspace) {
	preprocess := w.Command("preprocess")
	var g graph.Summary
	err := e.whole(ctx, w, workspace.GraphFolder, preprocess)
	if err == nil {
		err = readJSON(ctx, storage.Join(w.Graph(), "summary.json"), &g)
	}
	if err != nil {
		e.missing(dataSection, "The graph has no summary. Make it with", preprocess, err)
		return
	}
	e.graph = &g
}

func (e *evidence) readDistances(ctx context.Context, w workspace.Workspace) {
	splits := splitsIn(ctx, w, "distances")
	for _, split := range splits {
		var d distances.Distribution
		command := w.Command("distances", "--split", split)
		err := e.whole(ctx, w, "distances/"+split, command)
		if err == nil {
			err = readJSON(ctx, storage.Join(w.Distances(split), "distribution.json"), &d)
		}
		if err != nil {
			e.missing(dataSection, "The distances of the "+split+" split cannot be shown. Make them with", command, err)
			continue
		}
		if d.Split == "" {
			d.Split = split
		}
		e.distances = append(e.distances, d)
	}
	if len(splits) == 0 {
		e.missing(dataSection, "The distances of the answers are not computed. Compute them with", w.Command("distances", "--split", "test"), nil)
	}
}

func (e *evidence) readTraining(ctx context.Context, w workspace.Workspace) {
	train := w.Command("train")
	made, unfinished := manifest.Read(ctx, w.Checkpoints())
	if unfinished == nil && ofAnotherGraph(ctx, w, made) {
		e.missing(learningSection, "The model was trained on another graph than the present one. Train on this one with", train.With("--force"), nil)
		return
	}
	log, err := storage.ReadFile(ctx, w.TrainingLog())
	if err == nil {
		e.epochs, err = parseEpochs(log)
	}
	switch {
	case err != nil && unfinished == nil:
		e.missing(learningSection, "The training log cannot be shown. Train again with", train.With("--force"), err)
	case err != nil:
		e.missing(learningSection, "There is no trained model. Train one with", train, err)
	}
	name, err := storage.ReadFile(ctx, storage.Join(w.Checkpoints(), "best"))
	if err != nil {
		e.missing(parametersSection, "There is no checkpoint. Make one with", train, err)
		return
	}
	e.best = strings.TrimSpace(string(name))
	var r checkpoint.Record
	if err := readJSON(ctx, storage.Join(w.Checkpoints(), e.best+".json"), &r); err != nil {
		e.missing(parametersSection, "The record of the best checkpoint cannot be shown. Make it with", train, err)
		return
	}
	e.checkpoint = &r
	if errors.Is(unfinished, fs.ErrNotExist) {
		e.toGo = r.Configuration.Epochs
		// The newest knows best: a training can be given more epochs.
		if records, _, err := checkpoint.Folder(w.Checkpoints()).Records(ctx); err == nil && len(records) > 0 {
			e.toGo = records[len(records)-1].Configuration.Epochs
		}
	}
}

// ofAnotherGraph reports whether the folder of a manifest was made from another graph than the
// present one.
func ofAnotherGraph(ctx context.Context, w workspace.Workspace, m manifest.Manifest) bool {
	now, err := w.Inputs(ctx, workspace.GraphFolder)
	return err == nil && m.Inputs[workspace.GraphFolder] != now[workspace.GraphFolder]
}

// parseEpochs reads the lines of training.jsonl.
func parseEpochs(log []byte) ([]learn.Epoch, error) {
	var epochs []learn.Epoch
	for i, line := range bytes.Split(bytes.TrimSpace(log), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var one learn.Epoch
		if err := json.Unmarshal(line, &one); err != nil {
			return epochs, fmt.Errorf("training.jsonl:%d: %w", i+1, err)
		}
		epochs = append(epochs, one)
	}
	return epochs, nil
}

func (e *evidence) readEvaluations(ctx context.Context, w workspace.Workspace) {
	splits := slices.DeleteFunc(splitsIn(ctx, w, "evaluation"), func(split string) bool {
		return split == "queries" // the user's own queries have no ranks
	})
	for _, split := range splits {
		var v evaluation
		command := w.Command("score", "--split", split)
		err := e.whole(ctx, w, workspace.EvaluationFolder(split), command)
		if err == nil {
			err = e.ofBest(ctx, w, split, command)
		}
		if err == nil {
			err = readJSON(ctx, storage.Join(w.Evaluation(split), "metrics.json"), &v.Metrics)
		}
		if err != nil {
			e.missing(answersSection, "The metrics of the "+split+" split cannot be shown. Make them with", command, err)
			e.missing(queriesSection, "The predictions of the "+split+" split cannot be shown. Make them with", command, err)
			continue
		}
		if v.Split == "" {
			v.Split = split
		}
		if err := v.readTables(ctx, w.Evaluation(split)); err != nil {
			e.missing(queriesSection, "The predictions of the "+split+" split cannot be shown. Make them with", command, err)
		}
		e.evaluations = append(e.evaluations, v)
	}
	if len(splits) == 0 {
		score := w.Command("score", "--split", "test")
		e.missing(answersSection, "No split has been scored. Score one with", score, nil)
		e.missing(queriesSection, "There are no predictions. Make them with", score, nil)
	}
}

// ofBest returns an error if an evaluation used other weights than those of the best checkpoint.
func (e *evidence) ofBest(ctx context.Context, w workspace.Workspace, split string, command workspace.Command) error {
	if e.checkpoint == nil {
		return nil
	}
	name, weights, err := w.EvaluatedCheckpoint(ctx, split)
	if err != nil || weights == "" || weights == e.checkpoint.Weights.SHA256 {
		return err
	}
	return &workspace.Unusable{
		Reason:  fmt.Errorf("%s is of %s, but the best checkpoint now is %s", w.Evaluation(split), name, e.best),
		Command: command,
	}
}

func (e *evidence) readMessages(ctx context.Context, w workspace.Workspace) {
	splits := splitsIn(ctx, w, "messages")
	for _, split := range splits {
		var m messages.Summary
		command := w.Command("messages", "--split", split)
		err := e.whole(ctx, w, "messages/"+split, command)
		if err == nil {
			err = readJSON(ctx, storage.Join(w.Messages(split), "summary.json"), &m)
		}
		if err != nil {
			e.missing(messagesSection, "The messages of the "+split+" split cannot be shown. Count them with", command, err)
			continue
		}
		if m.Split == "" {
			m.Split = split
		}
		slices.SortStableFunc(m.Configurations, func(a, b messages.Configuration) int {
			if a.Layers != b.Layers {
				return a.Layers - b.Layers
			}
			return a.Delta - b.Delta
		})
		e.messages = append(e.messages, m)
	}
	if len(splits) == 0 {
		e.missing(messagesSection, "Messages are not counted. Count them with", w.Command("messages", "--split", "test"), nil)
	}
}

// readAnalysis reads the degrees, if analyze counted them.
func (e *evidence) readAnalysis(ctx context.Context, w workspace.Workspace) {
	there, err := storage.Exists(ctx, storage.Join(w.Analysis(), manifest.FileName))
	if err != nil || !there {
		return
	}
	command := w.Command("analyze")
	var a statistics.Analysis
	if err = e.whole(ctx, w, workspace.AnalysisFolder, command); err == nil {
		a, err = statistics.Read(ctx, w.Analysis())
	}
	if err != nil {
		e.missing(dataSection, "The degrees of the graph cannot be shown. Count them with", command, err)
		return
	}
	e.analysis = &a
}

// splitsIn lists the folders below a folder of the workspace: test first, then valid and
// train, then others by name.
func splitsIn(ctx context.Context, w workspace.Workspace, folder string) []string {
	urls, err := storage.List(ctx, w.Path(folder))
	if err != nil {
		return nil
	}
	found := map[string]bool{}
	for _, url := range urls {
		below := strings.TrimPrefix(strings.TrimPrefix(url, w.Path(folder)), "/")
		if split, _, ok := strings.Cut(below, "/"); ok {
			found[split] = true
		}
	}
	var splits []string
	for _, split := range []string{"test", "valid", "train"} {
		if found[split] {
			splits = append(splits, split)
			delete(found, split)
		}
	}
	return append(splits, sortedKeys(found)...)
}

func readJSON(ctx context.Context, url string, into any) error {
	data, err := storage.ReadFile(ctx, url)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
