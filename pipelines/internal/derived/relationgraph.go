package derived

import (
	"context"
	"errors"
	"io/fs"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/budget"
	"tagnet/model/engine/relations"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/preprocess"
	stage "tagnet/stages/relations"
	"tagnet/stages/worker"
)

// RelationGraph is the relation graph of one graph of a workspace. A nil RelationGraph stands for a model that needs none: there is nothing to make.
type RelationGraph struct {
	e       *command.Environment
	loaded  *kg.KG
	stage   workspace.Stage
	shards  []stage.Shard
	params  stage.Params
	edges   int64 // of the graph
	between int64 // edges between relations, if the table is not current
	memory  int64 // MiB
	current bool
}

// recorded decides the content of the folder.
type recorded struct {
	Graph string `json:"graph"`
}

// OpenRelationGraph returns the relation graph of the graph that a split's queries are about, and finds out whether its table is current. It returns nil
// if a model of configuration c needs none, and for kg.All, whose relation graph workers make. It writes nothing. inputs come from
// Workspace.OpenGraph, memory is --memory, enough for the model.
//
// A command builds what --plan prints with Jobs and Loads, and calls Make before its own job.
func OpenRelationGraph(ctx context.Context, e *command.Environment, c configuration.Configuration, loaded *kg.KG, inputs map[string]string, split string, memory int64) (*RelationGraph, error) {
	if c.Source() != configuration.RelationsGraph || split == kg.All {
		return nil, nil
	}
	w := e.Workspace
	name := "train"
	if loaded.Of(split) != loaded.Train {
		name = "inference"
	}
	t := &RelationGraph{
		e: e, loaded: loaded, shards: stage.Shards(w.Graph(), loaded.Manifest, split),
		edges: kg.EdgesOf(loaded.Manifest, split), memory: memory,
		stage: workspace.Stage{
			Workspace: w, Name: "relationgraph", Folder: workspace.RelationGraphFolder(name), Configuration: recorded{name},
			Inputs: inputs, Vocabulary: loaded.Vocabulary, Command: e.Again(), Outputs: []string{stage.TableFile},
		},
	}
	t.params = stage.Params{BaseRelations: len(loaded.Relations), Folder: t.URL(), Memory: memory * budget.MiB}
	var err error
	if t.current, err = t.stage.Complete(ctx); err != nil || t.current {
		return t, err
	}
	if err := t.divide(ctx, split); err != nil {
		return nil, err
	}
	const counting = 8 * budget.MiB // of memory, before the work begins
	t.between = relations.CountEdges(loaded.Of(split).Graph, counting)
	t.stage.Ready = e.Ready(command.Work{Jobs: t.Jobs, Memory: memory, Count: t.edges, Unit: "edges", Loads: t.Loads()})
	return t, nil
}

// divide divides the memory, which changes no byte of the table.
func (t *RelationGraph) divide(ctx context.Context, split string) error {
	sizes, err := preprocess.SizesOf(ctx, t.loaded, split)
	if err != nil {
		return err
	}
	a := budget.Estimate{Held: sizes.Graph, Thread: 2 * budget.LeastBuffer}.AllotLeast(t.params.Memory, 0)
	t.params.Threads, t.params.BufferBytes = a.Threads, a.Buffer()
	return nil
}

// URL returns the folder of the table, as relations.Load takes it, or nothing for a nil RelationGraph.
func (t *RelationGraph) URL() string {
	if t == nil {
		return ""
	}
	return t.e.Workspace.Path(t.stage.Folder)
}

// Edges returns the number of edges of the table, also of one that is yet to be made; none of a nil RelationGraph.
func (t *RelationGraph) Edges(ctx context.Context) (int64, error) {
	if t == nil {
		return 0, nil
	}
	if !t.current {
		return t.between, nil
	}
	m, err := manifest.Read(ctx, t.URL())
	return m.Rows["edges"], err
}

// Jobs returns the Beam pipeline that makes the table, without the folder's lock, or nothing if it is current.
func (t *RelationGraph) Jobs() ([]*beam.Pipeline, error) {
	if t == nil || t.current {
		return nil, nil
	}
	return []*beam.Pipeline{BuildRelationGraph(t.shards, t.params)}, nil
}

// Loads returns the inputs of the pipeline's steps.
func (t *RelationGraph) Loads() []command.Load {
	if t == nil || t.current {
		return nil
	}
	return []command.Load{{Step: "relations.pairs", Elements: t.edges, Unit: "edges", Parts: int64(len(t.shards))}}
}

// Ready returns the Ready of the stage that needs the table: it fails while another run makes the table, or where storage.CheckRegular
// does, before the stage's folder is touched, and calls ready otherwise. A nil RelationGraph stands for a stage that needs none.
func (t *RelationGraph) Ready(ready func(context.Context) error) func(context.Context) error {
	if t == nil {
		return ready
	}
	return func(ctx context.Context) error {
		if !t.current {
			if err := storage.CheckRegular(ctx, t.e.Workspace.Root(), t.URL()); err != nil {
				return err
			}
		}
		if !t.current && !t.e.Force {
			if err := t.stage.CheckFree(ctx); err != nil {
				return err
			}
		}
		return ready(ctx)
	}
}

// Make makes the table unless it is current, also where it was made from another version of the graph, or is damaged.
func (t *RelationGraph) Make(ctx context.Context) error {
	if t == nil {
		return nil
	}
	var err error
	if !t.current {
		t.current, err = t.stage.Complete(ctx) // by another run, since Open
	}
	if t.current || err != nil {
		return err
	}
	// With --force Replace takes over the lock of another run.
	if t.current, err = t.stage.Replace(ctx, t.e.Force); t.current || err != nil {
		return err
	}
	err = t.build(ctx)
	t.current = err == nil
	return err
}

// build runs the Beam pipeline and completes the folder.
func (t *RelationGraph) build(ctx context.Context) error {
	defer budget.Limit(t.memory * budget.MiB)()
	g, err := t.run(ctx)
	if err != nil {
		worker.Stop() // no file appears after the folder is cleared
		t.stage.Abandon(!command.Local())
		return err
	}
	return t.stage.Publish(ctx, map[string]int64{"relations": int64(g.Relations()), "edges": g.Edges()})
}

// run runs the Beam pipeline and reads the table that it wrote.
func (t *RelationGraph) run(ctx context.Context) (*relations.Graph, error) {
	bar := t.e.Progress.Begin("relation graph", t.edges, "edges")
	defer bar.End()
	defer bar.Follow(ctx, stage.EdgesCounter)()
	worker.Start()
	t.params.Lock = t.stage.Lock()
	if err := t.e.RunBeam(ctx, BuildRelationGraph(t.shards, t.params)); err != nil {
		return nil, err
	}
	bar.Set(t.edges)
	g, err := stage.Read(ctx, storage.Join(t.URL(), stage.TableFile), t.params.BaseRelations)
	if errors.Is(err, fs.ErrNotExist) { // workers have written it elsewhere
		err = &workspace.Missing{Folder: t.URL(), File: stage.TableFile}
	}
	return g, err
}

// BuildRelationGraph returns the Beam pipeline that makes the table.
func BuildRelationGraph(shards []stage.Shard, p stage.Params) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	stage.Collect(s, beam.CreateList(s, shards), p)
	return pipeline
}
