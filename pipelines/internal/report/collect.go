package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/probabilities"
)

// evidence is the content of a workspace that the page shows. What could not be read is nil or
// empty and has a gap.
type evidence struct {
	workspace   workspace.Workspace
	seed        int64 // of the bootstraps
	graph       *counts.Dataset
	distances   []counts.Distribution
	epochs      []metrics.Epoch
	best        string
	checkpoint  *checkpoint.Record
	toGo        int // configured epochs of a training that is not finished, else 0
	evaluations []evaluation
	protocols   []evaluation // by other protocols than the usual one
	messages    []counts.Summary
	rules       probabilities.Found
	list        newFacts
	runs        []*evidence      // of the workspace, this one included, if there are several
	gaps        map[string][]gap // by section
	failure     error            // of the first file that is damaged, or whose storage failed
}

func newEvidence(w workspace.Workspace, seed int64) *evidence {
	return &evidence{workspace: w, seed: seed, gaps: map[string][]gap{}}
}

// The sections of the page: keys of gaps and link targets.
const (
	dataSection          = "data"
	trainingSection      = "learning"
	evaluationSection    = "answers"
	messagesSection      = "messages"
	configurationSection = "configuration"
	rulesSection         = "rules"
	runsSection          = "runs"
	listSection          = "facts"
)

// collect reads a workspace. Outputs that are not complete, or that were made from another graph than
// the present one, have a gap instead. It returns an error if a file is damaged or ctx is canceled.
func collect(ctx context.Context, w workspace.Workspace, seed int64) (*evidence, error) {
	e := newEvidence(w, seed)
	preprocess := w.Command("preprocess")
	if g, err := read[counts.Dataset](ctx, e, workspace.GraphFolder, counts.SummaryFile, preprocess); err != nil {
		e.missing(dataSection, "The graph has no summary", preprocess, err)
	} else {
		e.graph = &g
	}
	e.distances = readSplits[counts.Distribution](ctx, e, "distances", counts.DistributionFile, "distances", content{dataSection, "distances"})
	e.readTraining(ctx)
	e.readEvaluations(ctx)
	e.readProtocols(ctx)
	e.readMessages(ctx)
	for _, m := range e.messages {
		slices.SortStableFunc(m.Configurations, func(a, b counts.Configuration) int {
			return cmp.Or(a.Layers-b.Layers, a.Delta-b.Delta)
		})
	}
	e.readList(ctx)
	e.readRuns(ctx)
	if err := cmp.Or(ctx.Err(), e.failure); err != nil {
		return nil, err
	}
	return e, nil
}

// readMessages reads the counts of each split's messages.
func (e *evidence) readMessages(ctx context.Context) {
	e.messages = readSplits[counts.Summary](ctx, e, e.workspace.InRun("messages"), counts.SummaryFile, "messages", content{messagesSection, "message counts"})
}

// check notes an error that is not a gap: a file is damaged, the graph is replaced meanwhile, or the storage failed, so
// that nobody knows what the page would show.
func (e *evidence) check(err error) {
	replaced := new(manifest.Replaced)
	ofGraph := errors.As(err, &replaced) && replaced.Folder == e.workspace.Graph()
	if ofGraph || errors.Is(err, manifest.ErrDamaged) || errors.Is(err, storage.ErrUnavailable) {
		e.failure = cmp.Or(e.failure, err)
	}
}

// read decodes a JSON file of a folder that is complete, undamaged and made from the present inputs.
func read[T strict.Checked](ctx context.Context, e *evidence, folder, file string, command workspace.Command) (value T, err error) {
	if _, err := e.workspace.Require(ctx, folder, command); err != nil {
		e.check(err)
		return value, err
	}
	return storage.ReadJSON[T](ctx, e.workspace.Path(folder, file))
}

// content names a section of the page and its subject.
type content struct{ section, what string }

// readSplits decodes a file of each split in the folder of a stage. A split without it leaves a gap, as does a stage
// without any split.
func readSplits[T strict.Checked](ctx context.Context, e *evidence, folder, file, pipeline string, shown content) (all []T) {
	splits := e.splitsIn(ctx, folder)
	for _, split := range splits {
		command := e.workspace.Command(pipeline, "--split", split)
		one, err := read[T](ctx, e, folder+"/"+split, file, command)
		if err != nil {
			e.missingSplit(split, command, err, shown)
			continue
		}
		all = append(all, one)
	}
	if len(splits) == 0 && pipeline != "distances" { // which nothing needs
		e.missing(shown.section, "There are no "+shown.what, e.workspace.Command(pipeline, "--split", e.usualSplit()), nil)
	}
	return all
}

// usualSplit returns the test split, or without test facts the validation or the training split.
func (e *evidence) usualSplit() string {
	if e.graph != nil {
		for _, split := range []string{"test", "valid", "train"} {
			if e.graph.Queries[split] > 0 {
				return split
			}
		}
	}
	return "test"
}

// missing notes a gap: something that does not exist or cannot be read, and the command that makes
// it, with --force if it has to be overwritten. Of what another run is making, that is the report.
func (e *evidence) missing(section, what string, command workspace.Command, err error) {
	e.check(err)
	g := gap{What: what, Command: command.String()}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, checkpoint.ErrNone) {
		g.Problem = err.Error()
		if unusable := new(workspace.Unusable); errors.As(err, &unusable) {
			g.Problem = unusable.Reason.Error()
			g.Command = command.With("--force").String()
		}
		if errors.As(err, new(*manifest.Replaced)) {
			g.Command = e.workspace.Command("report").String()
		}
		if errors.Is(err, parquet.ErrVersion) {
			g.Command = command.With("--force").String()
		}
	}
	e.gaps[section] = append(e.gaps[section], g)
}

// missingSplit notes the gap that an unreadable split leaves.
func (e *evidence) missingSplit(split string, command workspace.Command, err error, shown content) {
	e.unreadable(shown.section, fmt.Sprintf("The %s of the %s split", shown.what, split), command, err)
}

// unreadable notes that something cannot be shown, with the reason, which for a file that lacks is its name.
func (e *evidence) unreadable(section, what string, command workspace.Command, err error) {
	e.missing(section, what+" cannot be shown", command, err)
	if g := &e.gaps[section][len(e.gaps[section])-1]; g.Problem == "" && err != nil {
		g.Problem = err.Error()
	}
}

// withoutTraining says that a run was not trained, and of which model its metrics are, if it has some.
func (e *evidence) withoutTraining(ctx context.Context) string {
	for _, name := range slices.Concat(kg.Splits, metrics.Protocols[1:]) {
		if evaluated, err := e.workspace.EvaluatedCheckpoint(ctx, e.workspace.Evaluation(name)); err == nil {
			return fmt.Sprintf("The model is %s, which was not trained in this run", evaluated.Model())
		}
	}
	return "There is no trained model"
}

// readTraining reads the training log and the best checkpoint, unless they belong to another graph.
func (e *evidence) readTraining(ctx context.Context) {
	w, train := e.workspace, e.workspace.Command("train")
	made, unfinished := manifest.Read(ctx, w.Checkpoints())
	e.check(unfinished)
	now, err := w.Checksum(ctx, workspace.GraphFolder)
	e.check(err)
	if unfinished == nil && err == nil && made.Inputs[workspace.GraphFolder] != now {
		e.missing(trainingSection, "The model was trained on another graph than the present one. With the flags it had, the command trains on this one",
			train.With("--force"), nil)
		return
	}
	// The log may exist without a complete training, but not the other way.
	if e.epochs, err = metrics.ReadHistory(ctx, w.TrainingLog()); e.epochs == nil && err == nil {
		err = fs.ErrNotExist
	}
	switch {
	case err != nil && unfinished == nil:
		e.unreadable(trainingSection, "The training log", train.With("--force"), err)
	case err != nil:
		e.missing(trainingSection, e.withoutTraining(ctx), train, err)
	}
	if e.best, err = checkpoint.Folder(w.Checkpoints()).Best(ctx); err != nil {
		e.missing(configurationSection, "There is no checkpoint", train, err)
		return
	}
	r, err := checkpoint.Folder(w.Checkpoints()).Record(ctx, e.best)
	if err != nil {
		e.unreadable(configurationSection, "The record of the best checkpoint", train, err)
		return
	}
	e.checkpoint = &r
	if errors.Is(unfinished, fs.ErrNotExist) {
		e.toGo = r.Configuration.Epochs
		// The newest record decides: a training can be given more epochs.
		records, _, err := checkpoint.Folder(w.Checkpoints()).Records(ctx)
		e.check(err)
		if err == nil && len(records) > 0 {
			e.toGo = records[len(records)-1].Configuration.Epochs
		}
	}
}

// splitsIn returns the folders of splits below a folder of the workspace: test first, then valid and
// train. Other folders have the answers to a user's own queries.
func (e *evidence) splitsIn(ctx context.Context, folder string) []string {
	w := e.workspace
	urls, err := storage.List(ctx, w.Path(folder))
	if err != nil {
		e.check(err)
		return nil
	}
	found := map[string]bool{}
	for _, url := range urls {
		if split, _, ok := strings.Cut(storage.Below(w.Path(folder), url), "/"); ok && slices.Contains(kg.Splits, split) {
			found[split] = true
		}
	}
	return byWeight(slices.Collect(maps.Keys(found)), "test", "valid", "train")
}

// byWeight sorts names: the given first ones in their order, then the others by name.
func byWeight(names []string, first ...string) []string {
	weight := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(weight(a)-weight(b), strings.Compare(a, b)) })
	return names
}
