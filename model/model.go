package model

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/rules"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/parallel"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/zoo"
)

// Model is a trained model with the knowledge graph that it answers queries about. It may be used concurrently.
//
// Memory: the graph, and for each worker in use about what one core of the pipeline score takes.
type Model struct {
	opened    *answer.Model // over the graph that answers come from
	overAll   bool          // that one has all facts
	lookup    *kg.Lookup
	known     tables.Answers
	said      probability.Presumed                 // what the options presume
	presumed  atomic.Pointer[probability.Presumed] // what verdicts tell, otherwise
	told      atomic.Pointer[answer.Told]          // nil until verdicts were read
	workspace string                               // where probabilities are kept; "" without one
	fitting   sync.Mutex                           // held while probabilities are fitted
	reading   sync.Mutex                           // held while verdicts are read, so that an earlier reader does not replace newer ones
	mining    parallel.Turn                        // held while rules are mined
	rules     atomic.Pointer[rules.Rules]
	trained   *learn.Trained // what Save needs; nil unless Train made the model
}

// Option changes how Open, Load, LoadFacts, Train and Discover make a model.
type Option func(*options)

// options has the values of Options.
type options struct {
	run, checkpoint, kernel string
	device                  string // of WithDevice
	choice                  device.Choice
	resources               answer.Resources
	reach                   int    // of WithReach, or -1
	graph                   string // of WithGraph
	missing                 answer.Missing
	workspace               string                       // of Open
	training                *configuration.Configuration // of WithTraining
	seed                    int64
}

// WithRun makes Open take the model of another run than main: the name that train was given with --run.
func WithRun(name string) Option { return func(o *options) { o.run = name } }

// WithCheckpoint makes Open take another checkpoint than the best one: "last", "epoch-007", the number of an epoch, the
// path of a checkpoint's file or of a file of ULTRA's weights (.pth), or the name of a model of package zoo: ULTRA's
// weights and zero answer on any graph.
func WithCheckpoint(name string) Option { return func(o *options) { o.checkpoint = name } }

// WithWorkers sets how many queries the model answers at the same time; by default one per core. It changes no result.
func WithWorkers(n int) Option { return func(o *options) { o.resources.Threads = n } }

// WithKernel names the variant of the kernels (portable, avx2, avx512); by default the fastest that the CPU has.
func WithKernel(name string) Option { return func(o *options) { o.kernel = name } }

// WithReach sets the most entities that a query propagates through, by the largest personalized PageRank
// from its source, or all for 0. Without it that is the number of the training. It is an error for a model
// whose policy is astar.
func WithReach(entities int) Option { return func(o *options) { o.reach = entities } }

// WithGraph names the graph that answers come from: "all", the default, has all facts as edges, "train" those without
// the validation and test facts, as the evaluation asks. There are no probabilities of the latter. In the inductive
// setting both are about the inference graph.
func WithGraph(name string) Option { return func(o *options) { o.graph = name } }

// bestCheckpoint is the checkpoint that Open takes by default.
const bestCheckpoint = "best"

// newOptions returns the defaults, changed by a list of options, or an error for a value out of range.
func newOptions(list []Option) (options, error) {
	o := options{run: checkpoint.DefaultRun, checkpoint: bestCheckpoint, resources: answer.Resources{Threads: runtime.GOMAXPROCS(0)}, device: "cpu", reach: -1,
		graph: kg.All, missing: answer.Missing{Share: probability.DefaultMissing, Guessed: true, Relations: map[string]float64{}}}
	for _, option := range list {
		option(&o)
	}
	if o.resources.Threads < 1 {
		return o, fmt.Errorf("%d workers, want 1 or more", o.resources.Threads)
	}
	if o.graph != kg.All && o.graph != "train" {
		return o, fmt.Errorf("graph %q is neither %s nor train", o.graph, kg.All)
	}
	if err := o.missing.Check(); err != nil {
		return o, err
	}
	if err := checkpoint.CheckRun(o.run); err != nil {
		return o, err
	}
	var err error
	if o.choice, err = device.Parse(o.device); err != nil {
		return o, fmt.Errorf("device %q: %w", o.device, err)
	}
	o.resources.Kernel, err = kernel.Named(o.kernel)
	return o, err
}

// Open opens the graph of a workspace, a local path or URL, and the best checkpoint of its main run. Where nothing is
// trained, it takes zero, the foundation model that tagnet comes with. It reads the probabilities that the workspace
// keeps; without them Fit makes them; for damaged ones its error has the remedy. In the inductive setting queries are
// about the inference graph. It compares all files of the graph, and the checkpoint's weights, with their checksums.
// Errors wrap ErrNotFound, ErrNotComplete, ErrDamaged or ErrMismatch where one of them applies.
func Open(ctx context.Context, workspace string, list ...Option) (*Model, error) {
	fail := func(err error) (*Model, error) {
		return nil, fmt.Errorf("opening the model of workspace %s: %w", workspace, err)
	}
	o, err := newOptions(list)
	if err != nil {
		return fail(err)
	}
	o.workspace = workspace
	folder := storage.Join(workspace, kg.Folder)
	// The graph, whose files have to match the manifest.
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
	// Without options and without a training, the foundation model answers.
	if o.checkpoint == bestCheckpoint && o.run == checkpoint.DefaultRun {
		trained, err := checkpoint.Trained(ctx, workspace)
		if err != nil {
			return fail(err)
		}
		if !trained {
			o.checkpoint = zoo.Zero
		}
	}
	model, err := o.open(ctx, graph, checkpoint.FolderOf(workspace, o.run))
	if err != nil {
		return fail(classify(err))
	}
	return model, nil
}

// open opens the model of a graph; o.checkpoint is in folder unless it is a path, or the name of a
// model of package zoo.
func (o options) open(ctx context.Context, graph *kg.KG, folder checkpoint.Folder) (*Model, error) {
	opened, err := answer.Open(ctx, graph, pretrained.Ref{Folder: folder, Name: o.checkpoint}, o.resources)
	if err != nil {
		return nil, err
	}
	return o.over(ctx, opened)
}

// over returns the model that answers from the graph of the options, and computes as they say.
func (o options) over(ctx context.Context, opened *answer.Model) (*Model, error) {
	if err := opened.SetReach(o.reach); err != nil {
		return nil, err
	}
	if o.graph == kg.All {
		var err error
		if opened, err = opened.OverAllFacts(ctx); err != nil {
			return nil, err
		}
	}
	m, err := Named(ctx, opened, o.workspace, o.missing)
	if err != nil {
		return nil, err
	}
	if err := accelerator.SelectDevice(opened, o.choice); err != nil {
		return nil, err
	}
	return m, opened.Prepare()
}

// Named returns a model that answers by name, of an opened one that answers by id, about the same graph. Probabilities
// are read from a workspace, "" without one.
func Named(ctx context.Context, opened *answer.Model, workspace string, missing answer.Missing) (*Model, error) {
	known, err := opened.View.Answers(ctx)
	if err != nil {
		return nil, err
	}
	overAll := opened.View != opened.KG.Inference && opened.View != opened.KG.Train
	m := &Model{opened: opened, overAll: overAll, lookup: opened.KG.Lookup(opened.View), known: known, workspace: workspace}
	if m.said, err = opened.Presume(ctx, missing); err != nil {
		return nil, err
	}
	m.presumed.Store(&m.said)
	_, _ = m.readProbabilities(ctx) // Fit returns the error
	if err := m.checkPresumed(); err != nil {
		return nil, err
	}
	return m, m.ReadVerdicts(ctx)
}

// Entities returns the names of the entities that queries may be about, which callers must not change.
func (m *Model) Entities() []string { return m.opened.View.Entities }

// Relations returns the names of the relations, which callers must not change.
func (m *Model) Relations() []string { return m.opened.KG.Relations }

// Configuration returns the hyperparameters that the model was trained with, and the reach of WithReach.
func (m *Model) Configuration() configuration.Configuration { return m.opened.Configuration }

// Checkpoint returns the name of the model's checkpoint, such as epoch-007, or of the file whose weights
// it has as they are.
func (m *Model) Checkpoint() string {
	record := m.opened.Record
	if from := record.Origin; from != nil && record.Epoch == 0 {
		return from.File
	}
	return record.Name()
}
