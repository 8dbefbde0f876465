package score

import (
	"cmp"
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/model/budget"
	"tagnet/model/workload"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/relationgraph"
	"tagnet/stages/calibrate"
	"tagnet/stages/graph"
	"tagnet/stages/score"
	"tagnet/stages/worker"
)

// calibrating is what --calibrate works on: validation queries, which are about the training graph.
type calibrating struct {
	edges   *relationgraph.Table // between the relations of the training graph, unless scoring has the same; or nil
	queries int64
	plan    budget.Plan
}

// copyToCalibrate has a copy of the checkpoint calibrated for this graph, beside the results: its own folder belongs to its training.
func (a *opened) copyToCalibrate() error {
	if a.model.Calibration != nil {
		return command.Usage("--calibrate: %s has a calibration for the relations of this graph: leave it out", a.model.Record.Name())
	}
	a.beside = true
	return a.model.Detach()
}

// openCalibrating opens what --calibrate needs, before anything is written.
func (a *opened) openCalibrating(ctx context.Context) error {
	if !a.calibrate {
		return nil
	}
	valid, err := a.loaded.Queries(ctx, "valid")
	if err != nil {
		return err
	}
	if len(valid) == 0 {
		return command.Usage("--calibrate: there are no validation queries to fit probabilities to: leave it out, or preprocess again with facts in the dataset's valid.txt, or one file with --split 90,5,5")
	}
	a.fitting.queries = min(int64(len(valid)), cmp.Or(a.mostFitted(), calibrate.MostRows))
	if a.loaded.Of("valid") != a.loaded.Of(a.split) {
		a.fitting.edges, err = relationgraph.Open(ctx, a.e, a.model.Configuration, a.loaded, a.inputs, "valid", a.memory)
	}
	return err
}

// mostFitted returns the most validation queries that --calibrate reads: with --limit as many as that, and enough for probabilities. 0 is
// the usual number.
func (a *opened) mostFitted() int64 {
	const enough = 2000
	if a.limit == 0 {
		return 0
	}
	return min(calibrate.MostRows, max(a.limit, enough))
}

// divideCalibrating plans the memory of --calibrate, and adds to the cost.
func (a *scoring) divideCalibrating(ctx context.Context) error {
	if !a.calibrate {
		return nil
	}
	sizes, err := graph.Sizes(ctx, a.e.Workspace.Graph(), a.loaded.Manifest, "valid")
	if err != nil {
		return err
	}
	if sizes.RelationEdges, err = a.relationsFitted().Edges(ctx); err != nil {
		return err
	}
	sizes.Queries = a.fitting.queries
	c := a.model.Configuration
	seconds, _ := a.e.Workspace.ScoreSeconds(ctx, sizes, c, "valid", sizes.Queries)
	a.cost.Seconds += seconds
	a.fitting.plan, err = a.e.Plan(budget.Calibrate(sizes, c, calibrate.TopK, workload.MaxRows), a.memory, a.threads)
	return err
}

// relationsFitted returns the relation graph of the training graph, or nil.
func (a *opened) relationsFitted() *relationgraph.Table { return cmp.Or(a.fitting.edges, a.edges) }

// calibrationJobs returns the pipelines of --calibrate.
func (a *scoring) calibrationJobs() ([]*beam.Pipeline, error) {
	if !a.calibrate {
		return nil, nil
	}
	jobs, err := a.fitting.edges.Jobs()
	return append(jobs, buildCalibration(a.calibrationParams(lock.Lock{}))), err
}

// calibrationLoads returns what the steps of --calibrate work on.
func (a *scoring) calibrationLoads() []command.Load {
	if !a.calibrate {
		return nil
	}
	return append(a.fitting.edges.Loads(), command.Load{Step: "calibrate.sample", Elements: a.fitting.queries, Unit: "validation queries"})
}

// buildCalibration returns the Beam pipeline that fits probabilities.
func buildCalibration(p calibrate.Params) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	calibrate.Calibrate(scope, p)
	return pipeline
}

func (a *scoring) calibrationParams(held lock.Lock) calibrate.Params {
	return calibrate.NewParams(score.Params{
		Graph: a.e.Workspace.Graph(), Without: a.loaded.Unknown, RelationGraph: a.relationsFitted().URL(), Reach: a.model.Configuration.Reach,
		Checkpoints: string(a.model.Folder), Checkpoint: a.model.Record.Name(),
		Threads: a.threads, MostThreads: a.fitting.plan.MaxThreads, Memory: a.memory * budget.MiB, Kernel: a.e.Variant(a.kernel), Device: a.device,
	}, a.mostFitted(), workload.Work(a.model.Configuration, a.loaded.Train.Graph), held)
}

// fit fits probabilities to the weights that the folder's lock protects, with --calibrate.
func (a *scoring) fit(ctx context.Context, held lock.Lock) error {
	if !a.calibrate {
		return nil
	}
	if err := a.fitting.edges.Make(ctx); err != nil {
		return err
	}
	bar := a.e.Progress.Begin("calibrating", a.fitting.queries, "validation queries")
	defer bar.End()
	defer bar.Follow(ctx, score.RowsCounter)()
	worker.Start()
	if err := a.e.RunBeam(ctx, buildCalibration(a.calibrationParams(held))); err != nil {
		return err
	}
	bar.Set(a.fitting.queries)
	return nil
}

// readFitted reads the calibration that --calibrate fitted.
func (a *scoring) readFitted(ctx context.Context) error {
	if !a.calibrate {
		return nil
	}
	if err := a.model.ReadCalibration(ctx); err != nil {
		return err
	}
	if c := a.model.Calibration; c != nil {
		a.e.Say("calibrated on the %d best new answers of each of %s validation queries: %.1f%% are true, the base rate of probabilities", c.TopK, progress.Count(c.Queries), 100*c.BaseRate)
	}
	return nil
}
