package analyze

import (
	"context"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/analysis"
	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/statistics"
)

// analyze makes analysis/ unless it is complete for the present inputs and flags, and reports whether
// it did. It takes little time, unlike its inputs, so that it overwrites an analysis of other splits
// or deltas without --force.
func (f *flags) analyze(ctx context.Context, e *command.Environment) (bool, error) {
	w := e.Workspace
	m, err := w.Require(ctx, workspace.GraphFolder, w.Command("preprocess"))
	if err != nil {
		return false, err
	}
	stage, err := f.stage(ctx, w, m)
	if err != nil {
		return false, err
	}
	done, err := stage.Replace(ctx, e.Force)
	if err != nil {
		return false, err
	}
	if done {
		e.Say("%s is complete with the same configuration; --force overwrites all of it", w.Analysis())
		return false, nil
	}
	if err := f.write(ctx, e, m, stage.Lock()); err != nil {
		stage.Abandon(!command.Local())
		return false, err
	}
	// Remove the page of the earlier analysis before Publish: after an interrupt the next run then makes
	// the page.
	if err := storage.Remove(stage.Lock().Guard(ctx), pageURL(w)); err != nil {
		return false, err
	}
	return true, stage.Publish(ctx, map[string]int64{"splits": int64(len(f.splitList))})
}

// stage returns the stage of the folder analysis/.
func (f *flags) stage(ctx context.Context, w workspace.Workspace, m manifest.Manifest) (workspace.Stage, error) {
	folders := []string{workspace.GraphFolder}
	for _, split := range f.splitList {
		folders = append(folders, workspace.DistancesFolder(split), w.MessagesFolder(split))
	}
	inputs, err := w.Inputs(ctx, folders...)
	return workspace.Stage{
		Workspace: w, Name: "analyze", Folder: workspace.AnalysisFolder,
		Configuration: settings{f.splitList, f.layerList, f.deltaList}, Inputs: inputs, Vocabulary: m.Vocabulary,
		Outputs: []string{analysis.File, analysis.SharesFile}, Beside: []string{w.Report()},
		Command: w.Command("analyze", "--splits", strings.Join(f.splitList, ","), "--layers", f.layers, "--deltas", f.deltas),
	}, err
}

// write runs the Beam pipeline.
func (f *flags) write(ctx context.Context, e *command.Environment, m manifest.Manifest, held lock.Lock) error {
	shards := Shards(e.Workspace.Graph(), m)
	inputs := analysis.Inputs{Graph: e.Workspace.Graph(), Layers: f.layerList, Deltas: f.deltaList}
	for _, split := range f.splitList {
		inputs.Splits = append(inputs.Splits, analysis.Counted{Split: split, Distances: e.Workspace.Distances(split), Messages: e.Workspace.Messages(split)})
	}
	bar := e.Progress.Begin("analysis", int64(len(shards)), "shards of edges")
	defer bar.End()
	defer bar.Follow(ctx, "shards_counted")()
	if _, err := e.RunBeam(ctx, Build(shards, statistics.Params{Inputs: inputs, Folder: e.Workspace.Analysis(), Lock: held})); err != nil {
		return err
	}
	bar.Set(int64(len(shards)))
	return nil
}

// Shards returns the files of edges of a graph/ folder with this manifest: those of the training graph,
// and those of the inference graph if there is one.
func Shards(folder string, m manifest.Manifest) []statistics.EdgeShard {
	var shards []statistics.EdgeShard
	training := map[string]bool{}
	for _, f := range kg.EdgeFiles(m, "train") {
		training[f.Name] = true
		shards = append(shards, statistics.EdgeShard{Graph: analysis.Training, URL: storage.Join(folder, f.Name)})
	}
	for _, f := range kg.EdgeFiles(m, "test") {
		if !training[f.Name] {
			shards = append(shards, statistics.EdgeShard{Graph: analysis.Inference, URL: storage.Join(folder, f.Name)})
		}
	}
	return shards
}

// Build returns the Beam pipeline that analyzes the graphs of these shards.
func Build(shards []statistics.EdgeShard, p statistics.Params) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	statistics.Analyze(s, beam.CreateList(s, shards), p)
	return pipeline
}
