package scoring

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/encode"
	"tagnet/stages/predict"
	"tagnet/stages/worker"
)

// Run is one run of a command: the graph, the model, and what the command takes.
type Run struct {
	*Flags
	E *command.Environment
	// GraphName names the graph that is queried, as kg.KG.On takes it, and View is that graph.
	GraphName string
	Loaded    *kg.KG
	View      *kg.View
	Inputs    map[string]string
	Model     *answer.Model
	Allotment budget.Allotment // of --memory
	Cost      command.Cost
	// ModelGiven is set if --model names the model, or it is zero because nothing is trained: its checkpoint is written
	// beside the results.
	ModelGiven bool
}

// Open opens the graph, or its outline without edges, and the model, bounds Best by the entities, and checks the
// device. It writes nothing.
func (f *Flags) Open(ctx context.Context, e *command.Environment, graphName string, outline bool) (*Run, error) {
	r := &Run{Flags: f, E: e, GraphName: graphName}
	var err error
	if r.Loaded, r.Inputs, err = e.Workspace.Open(ctx, outline); err != nil {
		return nil, err
	}
	if r.Model, r.ModelGiven, err = e.Open(ctx, f.Model, r.Loaded); err != nil {
		return nil, err
	}
	r.Loaded = r.Model.KG
	if !r.ModelGiven { // what workers read
		reachable, err := e.Reachable("model", string(r.Model.Folder))
		if err != nil {
			return nil, err
		}
		r.Model.Folder = checkpoint.Folder(reachable)
		worker.KeepParameters(r.Model)
	}
	if err := command.SetReach(&r.Model.Configuration, f.Reach); err != nil {
		return nil, err
	}
	if r.View, err = r.Loaded.On(ctx, graphName); err != nil {
		return nil, err
	}
	r.Best = min(r.Best, r.View.Graph.Entities)
	if outline && r.Device.Mode == device.Auto {
		r.Device = device.Choice{} // the CPU: a device needs the edges of the graph
	}
	if err := accelerator.Check(r.Device, r.Model.Configuration, command.Local()); err != nil {
		return nil, fmt.Errorf("--device %v: %w", r.Device, err)
	}
	return r, nil
}

// MostRows returns how many of the rows of a job's tables are in memory.
func MostRows(rows int64) int64 { return min(rows, budget.Shards*workload.MaxRows) }

// MostQueries returns how many of the queries that are made where they are answered are in memory.
func (r *Run) MostQueries(queries int64) int64 {
	rows := int64(1 + r.Best)
	return MostRows(queries*rows) / rows
}

// Divide divides --memory for a job that uses the model and holds a number of queries, and another estimate. It also
// estimates the time of work, a number of queries that take as long.
func (r *Run) Divide(ctx context.Context, queries, work int64, u budget.Use, other budget.Estimate) error {
	sizes, err := encode.SizesOf(ctx, r.Loaded, r.GraphName)
	if err != nil {
		return err
	}
	if sizes.RelationEdges, err = relations.CountEdges(r.View.Graph, r.Model.Configuration); err != nil {
		return err
	}
	if sizes.Queries = queries; r.Device.Mode == device.CUDA {
		u.Devices = 1
	}
	r.Cost.Seconds, r.Cost.AtMost = r.E.Workspace.ScoreSeconds(ctx, sizes, r.Model.Configuration, r.GraphName, work)
	r.Allotment, err = r.E.Allot(budget.ForModel(sizes, r.Model.Configuration, u).Or(other), r.Memory, r.Threads)
	return err
}

// NewOutput returns the output that is a folder below the workspace for a number of queries, by jobs
// whose steps have loads.
func (r *Run) NewOutput(name, folder string, queries int64, loads []command.Load, jobs func() []*beam.Pipeline) workspace.Output {
	if r.ModelGiven { // workers will find it there
		r.Model.Folder = checkpoint.Folder(storage.Join(r.E.Workspace.Path(folder), WeightsFolder))
	}
	work := command.Work{Memory: r.Memory, Count: queries, Unit: "queries", Loads: loads, Cost: r.Cost}
	work.Jobs = func() ([]*beam.Pipeline, error) { return jobs(), nil }
	return workspace.Output{
		Workspace: r.E.Workspace, Name: name, Folder: folder, Inputs: r.Inputs, Vocabulary: r.Loaded.Vocabulary, Command: r.E.Again(),
		Ready: r.E.Ready(work),
	}
}

// Write makes the folder of an output, with the model of --model, by jobs, unless it is complete. It
// reports whether it did.
func (r *Run) Write(ctx context.Context, output *workspace.Output, jobs func() (rows map[string]int64, err error)) (made bool, err error) {
	made, err = r.E.MakeFolder(ctx, output, func() (rows map[string]int64, err error) {
		defer budget.Limit(r.Memory * budget.MiB)()
		if err = r.writeWeights(ctx, output.Lock()); err == nil {
			rows, err = jobs()
		}
		return rows, r.confirm(ctx, output, err)
	})
	return made, r.nameModels(ctx, err)
}

// confirm returns the error of making a folder, or that the checkpoint was replaced meanwhile: steps that read another
// one, or none, fail in many ways.
func (r *Run) confirm(ctx context.Context, output *workspace.Output, err error) error {
	if err == nil || r.ModelGiven {
		return err
	}
	name := r.Model.Record.Name()
	now, unread := r.Model.Folder.Record(ctx, name)
	gone := errors.Is(unread, checkpoint.ErrNone) || errors.Is(unread, checkpoint.ErrUnknown)
	if gone || unread == nil && now.Weights.SHA256 != r.Model.Record.Weights.SHA256 {
		return fmt.Errorf("%s of %s was removed or replaced, as by a training, while %s was made from it: run again", name, r.Model.Folder, output.URL())
	}
	return err
}

// Job runs a Beam pipeline behind a bar of rows. announce is the ID of a registered function that shows a worker's
// text. Each of followers shows more behind the bar, until its stop is called.
func (r *Run) Job(ctx context.Context, title string, rows int64, unit string, build func(announce string) *beam.Pipeline,
	followers ...func(context.Context, *progress.Bar) (stop func())) error {
	bar := r.E.Progress.Begin(title, rows, unit)
	defer bar.End()
	defer bar.Follow(ctx, predict.RowsCounter)()
	for _, show := range followers {
		defer show(ctx, bar)()
	}
	announce, release := worker.Register(func(text string) { r.E.Progress.Print("%s", text) })
	defer release()
	if err := r.E.RunBeam(ctx, build(announce)); err != nil {
		return err
	}
	bar.Set(rows)
	bar.Complete()
	return nil
}

// Params returns the parameters of the model and of plain queries.
func (r *Run) Params(announce string) predict.Params {
	return predict.Params{
		Model: predict.WorkerModel{
			Checkpoints: string(r.Model.Folder), Checkpoint: r.Model.Record.Name(), Reach: r.Model.Configuration.Reach,
			Threads: r.Threads, MostThreads: r.Allotment.MaxThreads, Memory: r.Memory * budget.MiB, Kernel: r.E.Variant(r.Kernel), Device: r.Device,
		},
		Queries: r.Queries(1), Best: r.Best, Announce: announce,
	}
}

// Queries returns the parameters of queries; times is the work of one of them in plain queries.
func (r *Run) Queries(times float64) workload.Params {
	return workload.Params{
		QueriedGraph: workload.QueriedGraph{Graph: r.E.Workspace.Graph(), Without: r.Loaded.Unknown, Split: r.GraphName},
		Best:         r.Best, Work: times * workload.Work(r.Model.Configuration, r.View.Graph),
	}
}

// Recorded returns the fields about the model.
func (r *Run) Recorded() workspace.Evaluated {
	record := workspace.Evaluated{Checkpoint: r.Model.Record.Name(), Weights: r.Model.Record.Weights.SHA256, TopK: r.Best, Reach: r.Model.Configuration.Reach}
	switch origin := r.Model.Record.Origin; {
	case r.ModelGiven:
		record.GivenModel = origin
	case origin != nil && origin.Relations == "":
		record.From = origin
	}
	return record
}
