package model

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/answer"
	"tagnet/model/calibration"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/explanation"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/parameters"
	"tagnet/model/pretrained"
	"tagnet/model/relations"
	"tagnet/model/training"
	"tagnet/model/zoo"
)

// Model is a trained model with the knowledge graph that it answers queries about. It may be used
// concurrently.
//
// Memory: the graph, and for each worker in use about what one core of the pipeline score takes.
type Model struct {
	graph     *kg.KG
	view      *kg.View
	lookup    *kg.Lookup
	known     tables.Answers
	record    checkpoint.Record
	workers   *answer.Pool                           // of workers
	explainer func() (*explanation.Explainer, error) // made on first use
	// weights, kernel and threads are what Calibrate scores with.
	weights *parameters.Set[float32]
	kernel  kernel.Kernel
	threads int
	// calibration turns scores into probabilities; nil without one.
	calibration *calibration.Calibration
	trained     *training.Trained // what Save needs; nil unless Train made the model
}

// Option changes how Open, Load, LoadFacts and Train make a model.
type Option func(*options)

type options struct {
	run, checkpoint, kernel string
	workers                 int
	baseRate                float64 // 0 is that of the calibration
	reach                   int     // of WithReach, or -1
}

// WithRun makes Open take the model of another run than main: the name that train was given with --run.
func WithRun(name string) Option { return func(o *options) { o.run = name } }

// WithCheckpoint makes Open take another checkpoint than the best one: "last", "epoch-007", the number of an
// epoch, the path of a checkpoint's file or of a file of ULTRA's weights (.pth), or the name of a model of package zoo: ULTRA's weights
// and zero answer on any graph.
func WithCheckpoint(name string) Option { return func(o *options) { o.checkpoint = name } }

// WithWorkers sets how many queries the model answers at the same time; by default one per core. It changes no
// result.
func WithWorkers(n int) Option { return func(o *options) { o.workers = n } }

// WithKernel names the variant of the kernels (portable, avx2, avx512); by default the fastest that the CPU has.
func WithKernel(name string) Option { return func(o *options) { o.kernel = name } }

// WithBaseRate sets the share of candidates that are expected to be true, more than 0 and less than 1. Without it
// probabilities presume the share that the calibration found among the best new answers of validation queries; where
// true answers are rarer or more frequent, all odds change by the same factor. It is an error for a checkpoint without a
// calibration.
func WithBaseRate(share float64) Option { return func(o *options) { o.baseRate = share } }

// WithReach sets the most entities that a query propagates through, those of the largest personalized PageRank from its source, or all
// for 0. Without it that is the number of the training. It is an error for a model whose policy is astar.
func WithReach(entities int) Option { return func(o *options) { o.reach = entities } }

// bestCheckpoint is the checkpoint that Open takes unless it is told otherwise.
const bestCheckpoint = "best"

func newOptions(list []Option) (options, error) {
	o := options{run: checkpoint.DefaultRun, checkpoint: bestCheckpoint, workers: runtime.GOMAXPROCS(0), reach: -1}
	for _, option := range list {
		option(&o)
	}
	if o.workers < 1 {
		return o, fmt.Errorf("%d workers, want 1 or more", o.workers)
	}
	return o, checkpoint.CheckRun(o.run)
}

// Open opens the graph of a workspace, a local path or URL, and the best checkpoint of its main run. Where nothing is trained, it takes
// zero, the model of any graph that tagnet comes with; Calibrate gives it probabilities. In the inductive
// setting queries are about the inference graph. It compares all files of the graph, and the checkpoint's
// weights, with their checksums. Errors wrap ErrNotFound, ErrNotComplete, ErrDamaged or ErrMismatch where one of
// them applies.
func Open(ctx context.Context, workspace string, list ...Option) (*Model, error) {
	fail := func(err error) (*Model, error) {
		return nil, fmt.Errorf("opening the model of workspace %s: %w", workspace, err)
	}
	o, err := newOptions(list)
	if err != nil {
		return fail(err)
	}
	folder := storage.Join(workspace, kg.Folder)
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return fail(classifyFolder(ctx, folder, err))
	}
	if err := manifest.Verify(ctx, folder, m); err != nil {
		return fail(classify(err))
	}
	graph, err := kg.Load(ctx, folder, m)
	if err != nil {
		return fail(classify(err))
	}
	if o.checkpoint == bestCheckpoint && o.run == checkpoint.DefaultRun {
		trained, err := checkpoint.Trained(ctx, workspace)
		if err != nil {
			return fail(err)
		}
		if !trained {
			o.checkpoint = zoo.Zero
		}
	}
	model, err := open(ctx, graph, checkpoint.FolderOf(workspace, o.run), o)
	if err != nil {
		return fail(classify(err))
	}
	return model, nil
}

// open is load without the facts of relations that the model does not know, unless it knows none.
func open(ctx context.Context, graph *kg.KG, folder checkpoint.Folder, o options) (*Model, error) {
	m, err := load(ctx, graph, folder, o)
	unknown := new(checkpoint.UnknownRelationsError)
	if !errors.As(err, &unknown) || len(unknown.Unknown) == len(graph.Relations) {
		return m, err
	}
	known, err := graph.Without(ctx, unknown.Unknown)
	if err != nil {
		return nil, err
	}
	return load(ctx, known, folder, o)
}

// load makes the model of a graph and a checkpoint; o.checkpoint is in folder unless it is a path, or the name of a model of package zoo.
func load(ctx context.Context, graph *kg.KG, folder checkpoint.Folder, o options) (*Model, error) {
	if pretrained.IsFile(o.checkpoint) || pretrained.IsNamed(o.checkpoint) {
		made, err := pretrained.Over(ctx, o.checkpoint, graph)
		if err != nil {
			return nil, err
		}
		return loadWeights(ctx, graph, made, o)
	}
	folder, name := checkpoint.Locate(folder, o.checkpoint)
	record, weights, err := folder.Model(ctx, name, graph.Relations)
	if err != nil {
		return nil, err
	}
	m, err := newModel(ctx, graph, record, weights, o)
	if err != nil {
		return nil, err
	}
	if record.CalibratedFor(graph.Relations) {
		if m.calibration, err = folder.Calibration(ctx, record); err != nil {
			return nil, err
		}
	}
	return m, m.setBaseRate(o.baseRate)
}

// loadWeights makes the model of a graph and weights that no folder holds, which have no calibration.
func loadWeights(ctx context.Context, graph *kg.KG, made *pretrained.Checkpoint, o options) (*Model, error) {
	m, err := newModel(ctx, graph, made.Record, made.Parameters, o)
	if err != nil {
		return nil, err
	}
	return m, m.setBaseRate(o.baseRate)
}

// setBaseRate changes the base rate of the calibration, unless it is 0.
func (m *Model) setBaseRate(share float64) error {
	if share == 0 {
		return nil
	}
	if m.calibration == nil {
		return fmt.Errorf("a base rate of %g: %s has no calibration", share, m.Checkpoint())
	}
	var err error
	m.calibration, err = m.calibration.WithBaseRate(share)
	return err
}

func newModel(ctx context.Context, graph *kg.KG, record checkpoint.Record, weights *parameters.Set[float32], o options) (*Model, error) {
	k, err := kernel.Named(o.kernel)
	if err != nil {
		return nil, err
	}
	if o.reach >= 0 {
		record.Configuration.Reach = o.reach
	}
	if c := record.Configuration; c.Reach > 0 && c.Prioritized() {
		return nil, fmt.Errorf("a reach of %d is not for policy %s", c.Reach, c.Policy)
	}
	m := &Model{graph: graph, view: graph.Inference, record: record, weights: weights, kernel: k, threads: o.workers}
	if m.known, err = m.view.Answers(ctx); err != nil {
		return nil, err
	}
	between := relations.Between(m.view.Graph, record.Configuration)
	scorer, err := inference.New(m.view.Graph, between, record.Configuration, weights, k)
	if err != nil {
		return nil, err
	}
	m.workers = answer.NewPool(m.view.Graph.Entities, m.view.Graph.RelationCount(), o.workers, scorer.Group, func() answer.Worker {
		return &worker{Worker: scorer.Worker(), model: m}
	})
	m.explainer = sync.OnceValues(func() (*explanation.Explainer, error) {
		return explanation.New(m.view.Graph, between, record.Configuration, weights, k)
	})
	m.lookup = graph.Lookup(m.view)
	return m, nil
}

// Entities returns the names of the entities that queries may be about, which callers must not change.
func (m *Model) Entities() []string { return m.view.Entities }

// Relations returns the names of the relations, which callers must not change.
func (m *Model) Relations() []string { return m.graph.Relations }

// Configuration returns the hyperparameters that the model was trained with, and the reach of WithReach.
func (m *Model) Configuration() configuration.Configuration { return m.record.Configuration }

// BaseRate returns the share of true candidates that probabilities presume. calibrated is false if the checkpoint has no
// calibration; then answers have no probability.
func (m *Model) BaseRate() (share float64, calibrated bool) {
	if m.calibration == nil {
		return 0, false
	}
	return m.calibration.BaseRate, true
}

// Checkpoint returns the name of the model's checkpoint, such as epoch-007, or of the file whose weights it has as they are.
func (m *Model) Checkpoint() string {
	if from := m.record.Origin; from != nil && m.record.Epoch == 0 {
		return from.File
	}
	return m.record.Name()
}
